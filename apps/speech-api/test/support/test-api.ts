import {
  type EngineOptions,
  type SpeechApiOptions,
  type SpeechEngine,
  startSpeechApi,
} from '@tokenwell/speech-api'
import { startTokenService } from '@tokenwell/token-service'
import { type Fields, formOf, sampleOf } from './recordings.ts'

export interface SlowEngine extends SpeechEngine {
  readonly transcriptions: readonly { readonly path: string; readonly options: EngineOptions }[]
  /** Ends all transcriptions, those to come as well. */
  readonly finish: () => void
}

/** An engine that returns one word once it is allowed to. */
export function createSlowEngine(): SlowEngine {
  const allowed = Promise.withResolvers<void>()
  const transcriptions: { path: string; options: EngineOptions }[] = []
  return {
    name: 'slow',
    recognises: ['digits', 'text'],
    transcriptions,
    finish: allowed.resolve,
    async transcribe(path, options) {
      transcriptions.push({ path, options })
      const { signal } = options
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error))
      })
      await Promise.race([allowed.promise, aborted])
      return { durationSeconds: 1, segments: [{ start: 0, end: 1, text: 'word' }], warnings: [] }
    },
    close: async () => allowed.resolve(),
  }
}

const api = { clientId: 'speech-api', clientSecret: 'the secret of the speech API' }
const clients = ['one', 'other', 'without-product'] as const

export interface TestApi extends AsyncDisposable {
  readonly url: string
  readonly tokenService: Awaited<ReturnType<typeof startTokenService>>
  readonly tokenOf: (client: (typeof clients)[number]) => Promise<string>
  /** Sends a request as a client. */
  readonly call: (path: string, init?: RequestInit, client?: (typeof clients)[number]) => Promise<Response>
  /** Posts a form, by default with the sample of digits. */
  readonly post: (
    fields?: Fields,
    wav?: Uint8Array<ArrayBuffer>,
    client?: (typeof clients)[number],
  ) => Promise<Response>
}

/** Starts a speech API and a token service on free ports. */
export async function startTestApi(options: Partial<SpeechApiOptions> = {}): Promise<TestApi> {
  const tokenService = await startTokenService({
    applications: clients.map((clientId) => ({
      clientId,
      clientSecret: `the secret of ${clientId}, which is long`,
      name: clientId,
      products: clientId === 'without-product' ? [] : ['speech-to-text'],
    })),
    resourceServers: [api],
  })
  const { authUrl } = tokenService
  const running = await startSpeechApi({ ...api, authUrl, quiet: true, ...options })
  const tokens = new Map<string, string>()
  const started: TestApi = {
    url: running.url,
    tokenService,
    async tokenOf(client) {
      const body = new URLSearchParams({
        client_id: client,
        client_secret: `the secret of ${client}, which is long`,
      })
      const path = '/oauth/client_credential/accesstoken?grant_type=client_credentials'
      const response = await fetch(authUrl + path, { method: 'POST', body })
      return ((await response.json()) as { access_token: string }).access_token
    },
    async call(path, init, client = 'one') {
      if (!tokens.has(client)) tokens.set(client, await started.tokenOf(client))
      const headers = new Headers(init?.headers)
      headers.set('authorization', `Bearer ${tokens.get(client)}`)
      return fetch(running.url + path, { ...init, headers })
    },
    post: (fields = { expected: 'digits' }, wav = sampleOf('digits').wav, client) =>
      started.call('/v1/transcriptions', { method: 'POST', body: formOf({ wav, fields }) }, client),
    async [Symbol.asyncDispose]() {
      await running.close()
      await tokenService.close()
    },
  }
  return started
}
