import { type ConfigType, registerAs } from '@nestjs/config'
import { credentialsFrom } from '@tokenwell/core'
import { sandboxUrlFrom, speechUrlFrom } from '../platform/connection.ts'

// Each is read when the application is created, and can be replaced in a test: `overrideProvider(speechApi.KEY)`.

/** The application of this server, with whose tokens it calls the speech API. */
export const serverApplication = registerAs('serverApplication', () => credentialsFrom(process.env))

/** The application whose tokens web pages get: with few permissions and a short lifetime, of the same token service. */
export const pageApplication = registerAs('pageApplication', () =>
  credentialsFrom(process.env, { prefix: 'PAGE_' }),
)

export const speechApi = registerAs('speechApi', () => ({ baseURL: speechUrlFrom(process.env) }))

/** Controls the token service, for trials; without a URL if the token service is a real one. */
export const sandbox = registerAs('sandbox', () => ({ url: sandboxUrlFrom(process.env) }))

export type ServerApplication = ConfigType<typeof serverApplication>
export type SpeechApi = ConfigType<typeof speechApi>
export type Sandbox = ConfigType<typeof sandbox>

export const settings = [serverApplication, pageApplication, speechApi, sandbox]
