import type { Connection } from './connection.ts'

/** The credentials of an application. */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** The token service, the speech API and the credentials for them. */
export interface Platform extends Connection {
  /** The application whose tokens web pages get: with few permissions and a short lifetime. */
  readonly page?: Credentials | undefined
  /** Stops the services that were started for it. */
  close(): Promise<void>
}
