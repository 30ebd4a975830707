import type { Connection } from '../platform/connection.ts'
import type { SpeechClient } from './speech-client.ts'

export const clientNames = ['fetch', 'axios', 'ky'] as const

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
  }
}
