import type { Connection } from '../platform/connection.ts'
import type { Transcript } from '../speech/speech-api-response.ts'
import type { TranscribeOptions } from '../speech/transcribe-recording.ts'

/** The speech API as the command line uses it, independent of the HTTP client. */
export interface SpeechClient {
  /**
   * Transcribes a WAV recording. A `Blob` from `fs.openAsBlob` is read from the disk as it is sent, and can be sent
   * again after its token was rejected.
   */
  transcribe(recording: Blob, options?: TranscribeOptions): Promise<Transcript>
  close(): Promise<void>
}

export const clientNames = ['fetch', 'axios', 'ky', 'nest'] as const

export type ClientName = (typeof clientNames)[number]

/** Imports only the client that is used. */
export async function createSpeechClient(name: ClientName, connection: Connection): Promise<SpeechClient> {
  switch (name) {
    case 'fetch':
      return (await import('./fetch-client.ts')).createFetchClient(connection)
    case 'axios':
      return (await import('./axios-client.ts')).createAxiosClient(connection)
    case 'ky':
      return (await import('./ky-client.ts')).createKyClient(connection)
    case 'nest':
      return (await import('./nest-client.ts')).createNestClient(connection)
  }
}
