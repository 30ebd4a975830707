import type { Platform } from '../platform/platform.ts'

/** Where the platform is, and the server's applications there. */
export type ServerSettings = Omit<Platform, 'close' | 'onEvent'>

/** The settings, for those who ask Nest for them. */
export const SERVER_SETTINGS = 'ServerSettings'
