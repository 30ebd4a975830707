import type { TokenEventListener } from '@tokenwell/core'

/** The URLs of the platform and the credentials of this application. */
export interface Connection {
  readonly authUrl: string
  readonly speechUrl: string
  readonly clientId: string
  readonly clientSecret: string
  readonly onEvent?: TokenEventListener | undefined
}
