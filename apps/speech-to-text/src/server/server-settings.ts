import type { Platform } from '../platform/platform.ts'

/** The platform and the credentials of the server. */
export type ServerSettings = Omit<Platform, 'close' | 'onEvent'>

/** Injection token of the settings. */
export const SERVER_SETTINGS = 'ServerSettings'
