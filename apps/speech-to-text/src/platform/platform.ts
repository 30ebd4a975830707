import type { Connection } from '../clients/speech-client.ts'

/** An application of the platform. */
export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** The token service and the speech API, and who this application is to them. */
export interface Platform extends Connection {
  /** The application whose tokens web pages get: of few rights and short life. */
  readonly page?: Credentials | undefined
  /** Stops what was started for it. */
  close(): Promise<void>
}
