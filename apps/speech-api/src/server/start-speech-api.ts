import { createSpeechApi } from './create-speech-api.ts'
import type { SpeechApiOptions } from './speech-api-options.ts'

export interface StartSpeechApiOptions extends SpeechApiOptions {
  /** @default 0, a free port */
  readonly port?: number | undefined
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
}

export interface RunningSpeechApi {
  readonly url: string
  /** Stops listening, completes pending responses, cancels jobs and closes the engine. */
  close(): Promise<void>
}

/**
 * Starts the speech-to-text API.
 *
 * @example
 * const api = await startSpeechApi({ authUrl, clientId: 'speech-api', clientSecret })
 * await fetch(`${api.url}/v1/transcriptions`, { method: 'POST', headers, body: wav })
 */
export async function startSpeechApi(options: StartSpeechApiOptions): Promise<RunningSpeechApi> {
  const server = createSpeechApi(options)
  try {
    const url = await server.listen({ port: options.port ?? 0, host: options.host ?? '127.0.0.1' })
    return { url, close: () => server.close() }
  } catch (error) {
    await server.close()
    throw error
  }
}
