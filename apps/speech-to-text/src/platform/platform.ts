import type { Connection } from '../clients/speech-client.ts'

/** The token service and the speech API, and who this application is to them. */
export interface Platform extends Connection {
  /** Stops what was started for it. */
  close(): Promise<void>
}
