import { registerAs } from '@nestjs/config'
import { credentialsFrom } from '@tokenwell/core'

/** The application whose tokens the server gets: `CLIENT_ID`, `CLIENT_SECRET`, and `AUTH_URL`, `ISSUER` or `TOKEN_ENDPOINT`. */
export const application = registerAs('application', () => credentialsFrom(process.env))

export const speechApi = registerAs('speechApi', () => ({
  baseURL: process.env.SPEECH_URL,
  timeout: 60_000,
}))
