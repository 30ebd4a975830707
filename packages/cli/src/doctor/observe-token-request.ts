import { clientCredentials, TokenError, type AccessToken, type FetchLike } from '@tokenwell/core'
import { errorCode } from '@tokenwell/core/protocol'
import type { Connection } from '../connection/resolve.ts'

/** One token request by the library itself, with its observed response. Holds a token and a body. */
export interface ObservedRequest extends Observed {
  readonly durationMs: number
  readonly outcome: AccessToken | TokenError
  /** Why the lifetime of the token had to be assumed. */
  readonly lifetimeProblem?: 'missing' | 'too_long' | undefined
}

interface Observed {
  /** Where the token request was sent; absent if the metadata of the issuer did not name it. */
  readonly endpoint?: URL
  /** Whether the credentials were sent in an `Authorization` header. */
  readonly usesBasic?: boolean
  /** The client assertion that was sent. */
  readonly assertion?: ReturnType<typeof readSentAssertion>
  /** Milliseconds since 1970. */
  readonly sentAt: number
  readonly status?: number
  readonly headers?: Headers
  /** The part that was received. */
  readonly body: string
  readonly receivedBytes: number
  readonly complete: boolean
  /** Milliseconds until the response began. */
  readonly waitedMs?: number
  readonly timedOut: boolean
  /** Why there was no response. */
  readonly networkCode?: string | undefined
  /** The status with which a proxy rejected the connection. */
  readonly proxyStatus?: number | undefined
}

type Observation = { -readonly [Fact in keyof Observed]: Observed[Fact] }

export async function observeTokenRequest(connection: Connection, limitMs: number): Promise<ObservedRequest> {
  const observed: Observation = {
    sentAt: Date.now(),
    body: '',
    receivedBytes: 0,
    complete: false,
    timedOut: false,
  }
  let lifetimeProblem: ObservedRequest['lifetimeProblem']
  const tokens = clientCredentials({
    ...connection,
    fetch: observingFetch(observed),
    maxAttempts: 1,
    timeoutMs: limitMs,
    attemptTimeoutMs: limitMs,
    onEvent: (event) => {
      if (event.type === 'lifetime_unknown') lifetimeProblem = event.problem
    },
  })
  const start = performance.now()
  try {
    const outcome = await tokens.getToken().catch((error: unknown) => {
      if (error instanceof TokenError) return error
      throw error
    })
    return { ...observed, durationMs: performance.now() - start, outcome, lifetimeProblem }
  } finally {
    await tokens.close()
  }
}

/** Records the token request and its response, which it passes on unchanged. */
function observingFetch(observed: Observation): FetchLike {
  return async (input, init) => {
    // The metadata of an issuer.
    if (init?.method !== 'POST') return fetch(input, init)
    observed.endpoint = new URL(input instanceof Request ? input.url : input)
    observed.usesBasic = /^Basic /i.test(new Headers(init.headers).get('authorization') ?? '')
    observed.sentAt = Date.now()
    observed.assertion = readSentAssertion(init?.body)
    const start = performance.now()
    init?.signal?.addEventListener('abort', () => void (observed.timedOut = true))
    let response: Response
    try {
      response = await fetch(input, init)
    } catch (error) {
      observed.networkCode = errorCode(error)
      observed.proxyStatus = proxyStatusOf(error)
      throw error
    }
    const { status, headers } = response
    Object.assign(observed, { status, headers, waitedMs: performance.now() - start })
    if (!response.body) {
      observed.complete = true
      return response
    }
    const decoder = new TextDecoder()
    const tap = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        observed.receivedBytes += chunk.byteLength
        observed.body += decoder.decode(chunk, { stream: true })
        controller.enqueue(chunk)
      },
      flush() {
        observed.complete = true
      },
    })
    return new Response(response.body.pipeThrough(tap), { status, headers })
  }
}

/** The status with which a proxy responded to CONNECT: Node reports it in a message alone. */
function proxyStatusOf(error: unknown): number | undefined {
  const { message, cause } = Object(error) as { message?: unknown; cause?: unknown }
  const [, status] = /^Proxy response \((\d{3})\)/.exec(String(message)) ?? []
  if (status !== undefined) return Number(status)
  return cause === undefined ? undefined : proxyStatusOf(cause)
}

/** What a client assertion states, as far as it can be shown. */
export interface SentAssertion {
  readonly audience: string
  readonly issuer: string | undefined
  readonly keyId: string | undefined
  readonly subject: string | undefined
  /** Seconds since 1970. */
  readonly issuedAt: number | undefined
  readonly expiresAt: number | undefined
}

/** Reads the assertion of a token request without verifying it; undefined if it has no assertion. */
export function readSentAssertion(body: unknown): { text: string; assertion: SentAssertion } | undefined {
  const text = typeof body === 'string' ? new URLSearchParams(body).get('client_assertion') : null
  if (!text) return undefined
  const [header, claims] = text.split('.').map(decode)
  const { aud, iss, sub, iat, exp } = claims ?? {}
  const assertion = {
    audience: [aud].flat().join(', '),
    issuer: string(iss),
    keyId: string(header?.['kid']),
    subject: string(sub),
    issuedAt: typeof iat === 'number' ? iat : undefined,
    expiresAt: typeof exp === 'number' ? exp : undefined,
  }
  return { text, assertion }
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString())) as Record<string, unknown>
  } catch {
    return undefined
  }
}

function string(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
