import {
  type TranscribeOptions,
  type SpeechEngine,
  startSpeechApi,
  type SpeechApiOptions,
} from '@tokenwell/speech-api'
import { type IntrospectionServer, startIntrospectionServer } from './introspection-server.ts'

export interface CountingEngine extends SpeechEngine {
  /** Bytes read so far, of all recordings. */
  readonly bytes: number
  readonly calls: number
  /** Resolved when the first bytes of a recording have arrived. */
  readonly started: Promise<void>
  /** Resolved with the reason when a transcription is aborted. */
  readonly aborted: Promise<unknown>
}

/** An engine that only counts bytes. It returns an empty transcript once `until` is settled. */
export function createCountingEngine(until: Promise<unknown> = Promise.resolve()): CountingEngine {
  const started = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<unknown>()
  const state = { bytes: 0, calls: 0 }
  return Object.assign(state, {
    name: 'counting',
    started: started.promise,
    aborted: aborted.promise,
    async transcribe(audio: AsyncIterable<Uint8Array>, { signal, onProgress }: TranscribeOptions) {
      state.calls++
      signal.addEventListener('abort', () => aborted.resolve(signal.reason))
      onProgress?.(0)
      for await (const piece of audio) {
        state.bytes += piece.length
        started.resolve()
      }
      await until
      return { durationSeconds: 0, segments: [] }
    },
    close: () => Promise.resolve(),
  })
}

export const VALID_TOKEN = 'valid-token-0123456789'

/** Node's fetch also sends what an async iterable yields. */
type Body = RequestInit['body'] | Uint8Array | AsyncIterable<Uint8Array>

export interface TestApi extends AsyncDisposable {
  readonly url: string
  readonly tokenService: IntrospectionServer
  /** Posts a recording, with a valid token unless the headers contain another. */
  post(body: Body, headers?: Record<string, string>): Promise<Response>
}

/** Starts a speech API and a token service on free ports. */
export async function startTestApi(options: Partial<SpeechApiOptions> = {}): Promise<TestApi> {
  const tokenService = await startIntrospectionServer()
  tokenService.tokens.set(VALID_TOKEN, {
    active: true,
    client_id: 'a-client',
    scope: '',
    exp: Math.floor(Date.now() / 1_000) + 3_600,
    api_products: ['translation', 'speech-to-text'],
  })
  const api = await startSpeechApi({
    authUrl: tokenService.authUrl,
    clientId: 'speech-api',
    clientSecret: 'speech-secret',
    quiet: true,
    ...options,
  })
  return {
    url: api.url,
    tokenService,
    post: (body, headers = {}) =>
      fetch(`${api.url}/v1/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${VALID_TOKEN}`, 'content-type': 'audio/wav', ...headers },
        ...(body === undefined ? {} : { body: body as BodyInit, duplex: 'half' }),
      }),
    async [Symbol.asyncDispose]() {
      await api.close()
      await tokenService.stop()
    },
  }
}

/** Adds a client with a token to the token service; returns the headers of its requests. */
export function addClient(api: TestApi, clientId: string): Record<string, string> {
  const token = `token-of-${clientId}`
  api.tokenService.tokens.set(token, { active: true, client_id: clientId, api_products: ['speech-to-text'] })
  return { authorization: `Bearer ${token}` }
}
