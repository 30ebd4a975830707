import {
  clientCredentials,
  jwtBearer,
  tokenExchange,
  type ClientCredentialsOptions,
  type FetchLike,
  type TokenProvider,
  type TokenSource,
} from '@tokenwell/core'
import { createGrantSource, type TokenEndpointOptions } from '@tokenwell/core/adapter'

/** The response to one request; without a `body`, a token with the number of the request. */
export interface ScriptedResponse {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body?: unknown
  readonly expiresIn?: unknown
  readonly latencyMs?: number
  /** Thrown instead of a response. */
  readonly error?: unknown
}

export interface ScriptedRequest {
  readonly url: string
  readonly headers: Record<string, string>
  readonly form: URLSearchParams
  readonly atMs: number
}

export type Script = ScriptedResponse | ((request: number) => ScriptedResponse)

/** A token endpoint in this process with its own `fetch`; its latency uses the fake timers. */
export class ScriptedEndpoint {
  script: Script
  readonly requests: ScriptedRequest[] = []
  inFlight = 0
  mostInFlight = 0
  cancelled = 0

  constructor(script: Script = {}) {
    this.script = script
  }

  readonly fetch: FetchLike = async (input, init) => {
    this.requests.push({
      url: new Request(input).url,
      headers: { ...(init?.headers as Record<string, string>) },
      form: new URLSearchParams(init?.body as string),
      atMs: Date.now(),
    })
    const number = this.requests.length
    const response = typeof this.script === 'function' ? this.script(number) : this.script
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight)
    try {
      if (response.latencyMs) await this.#wait(response.latencyMs, init?.signal)
      if ('error' in response) throw response.error
      const {
        status = 200,
        headers,
        body = { ...token(number), expires_in: response.expiresIn ?? 3600 },
      } = response
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), {
        status,
        headers: { 'content-type': 'application/json', ...headers },
      })
    } finally {
      this.inFlight--
    }
  }

  #wait(ms: number, signal: AbortSignal | null | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = ms === Infinity ? undefined : setTimeout(resolve, ms)
      signal?.addEventListener('abort', () => {
        clearTimeout(timer)
        this.cancelled++
        reject(signal.reason as Error)
      })
    })
  }
}

function token(number: number) {
  return { access_token: `token-${number}`, token_type: 'Bearer' }
}

export const unavailable: ScriptedResponse = { status: 503, body: 'down' }
export const wrongSecret: ScriptedResponse = { status: 401, body: { error: 'invalid_client' } }
export const never: ScriptedResponse = { latencyMs: Infinity }

const defaults = (endpoint: ScriptedEndpoint) => ({
  tokenEndpoint: 'https://auth.example.com/token',
  clientId: 'client',
  clientSecret: 'secret',
  fetch: endpoint.fetch,
})

/** Tokens of a scripted endpoint, by client credentials. */
export function tokensOf(
  endpoint: ScriptedEndpoint,
  options: Partial<ClientCredentialsOptions> = {},
): TokenProvider {
  return clientCredentials({ ...defaults(endpoint), ...options })
}

/** The same as a source, for providers of a test's own. */
export function sourceOf(
  endpoint: ScriptedEndpoint,
  options: Partial<TokenEndpointOptions> = {},
): TokenSource {
  return createGrantSource({ ...defaults(endpoint), ...options })
}

/** Tokens of each grant, for tests of what they have in common. */
export const grants: readonly (readonly [grant: string, tokens: typeof tokensOf])[] = [
  ['client credentials', tokensOf],
  [
    'jwt-bearer',
    (endpoint, options) =>
      jwtBearer({ ...defaults(endpoint), assertion: 'assertion', subject: 'machine', ...options }),
  ],
  [
    'token exchange',
    (endpoint, options) =>
      tokenExchange({ ...defaults(endpoint), subjectToken: () => 'incoming', subject: 'user', ...options }),
  ],
]
