import { isTokenError, TokenError, type FetchLike } from '@tokenwell/core'

/** Returns a JWT that proves the identity of a machine: for `clientAssertion`, called for each token request. */
export type IdentitySource = (request?: { readonly signal?: AbortSignal | undefined }) => Promise<string>

/** The request of one identity. */
export interface IdentityRequest {
  /** The same only for requests of the same identity. */
  readonly key: string
  /** The `aud` that the JWT must have. */
  readonly audience?: string | undefined
  /**
   * Requests the JWT; anything else if the response contains none.
   *
   * @throws {TokenError} for a response that is an error
   */
  readonly send: (signal: AbortSignal) => Promise<unknown>
}

/** Names in messages, and the way to the identity. */
export interface IdentityProvider {
  /** Such as `the metadata server of Google Cloud`. */
  readonly name: string
  /** What to check when it rejects the request, or cannot be reached. */
  readonly advice: string
  /** @throws {TokenError} of kind `configuration` where the machine has no such identity */
  readonly prepare: () => IdentityRequest
}

const timeoutMs = 5_000
const maxBytes = 64 * 1024
/** A JWT is replaced this long before it expires, so that it is still valid when it arrives. */
const expiryMarginMs = 60_000

/** Requests an identity when it is needed, and again before it expires. */
export function createIdentitySource(provider: IdentityProvider): IdentitySource {
  let cached: { readonly jwt: string; readonly expiresAt: number; readonly key: string } | undefined
  return async ({ signal } = {}) => {
    const request = provider.prepare()
    if (cached?.key === request.key && cached.expiresAt - expiryMarginMs > Date.now()) return cached.jwt
    const jwt = await requestIdentity(provider, request, signal)
    cached = { jwt, expiresAt: checkClaims(jwt, provider, request), key: request.key }
    return jwt
  }
}

async function requestIdentity(
  { name, advice }: IdentityProvider,
  { send }: IdentityRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs)
  const ended = signal ? AbortSignal.any([signal, limit]) : limit
  let jwt: unknown
  try {
    jwt = await Promise.race([send(ended), rejectedBy(ended)])
  } catch (error) {
    if (signal?.aborted || isTokenError(error)) throw error
    const reason = limit.aborted ? `did not respond within ${timeoutMs / 1_000} s` : 'could not be reached'
    throw unavailable(`${name} ${reason}. ${advice}`)
  }
  if (typeof jwt === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) return jwt
  throw unavailable(`The response of ${name} contains no JWT.`)
}

/** Not every client heeds a signal. */
function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

/** A metadata service over HTTP. */
export interface HttpIdentityProvider extends Pick<IdentityProvider, 'name' | 'advice'> {
  readonly fetch: FetchLike | undefined
  readonly audience?: string | undefined
  /** @throws {TokenError} of kind `configuration` where the machine has no such identity */
  readonly prepare: () => { readonly url: URL; readonly headers: Record<string, string> }
  /** Reads the JWT from the text of a response with status 200. */
  readonly read: (text: string, headers: Headers) => unknown
}

export function createHttpIdentitySource(provider: HttpIdentityProvider): IdentitySource {
  const { name, advice, audience, read, fetch = globalThis.fetch } = provider
  return createIdentitySource({
    name,
    advice,
    prepare() {
      const { url, headers } = provider.prepare()
      return {
        key: url.href,
        audience,
        async send(signal) {
          // A redirect would carry the header, which may be a secret, to another place.
          const response = await fetch(url, { headers, redirect: 'manual', cache: 'no-store', signal })
          const text = await readText(response)
          const { status } = response
          if (status >= 500 || status === 429) throw unavailable(`${name} failed (status ${status}).`)
          if (status !== 200) throw rejected(`${name} rejected the request (status ${status}). ${advice}`)
          return text === undefined ? undefined : parse(() => read(text, response.headers))
        },
      }
    },
  })
}

/** Undefined for a body that is too large. */
async function readText({ body }: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    // Leaving the loop cancels the body.
    if (bytes > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** @returns when the JWT expires */
function checkClaims(jwt: string, { name }: IdentityProvider, { audience }: IdentityRequest): number {
  const payload = Buffer.from(jwt.split('.')[1]!, 'base64url').toString()
  const { aud, exp } = (parse(() => JSON.parse(payload) as unknown) ?? {}) as { aud?: unknown; exp?: unknown }
  if (audience !== undefined && ![aud].flat().includes(audience)) {
    throw rejected(`The JWT of ${name} is not for the audience "${audience}".`)
  }
  if (typeof exp !== 'number' || exp * 1_000 <= Date.now()) {
    throw unavailable(`The JWT of ${name} has expired. Check the clock of this machine.`)
  }
  return exp * 1_000
}

export const unavailable = (sentence: string): TokenError => failure('unavailable', sentence)
export const rejected = (sentence: string): TokenError => failure('configuration', sentence)

/** Names begin with `the`. */
function failure(kind: 'unavailable' | 'configuration', sentence: string): TokenError {
  return new TokenError({ kind, message: sentence.replace(/^t/, 'T') })
}

function parse(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
