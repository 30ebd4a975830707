import { TokenError, type FetchLike } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'

/** Returns a JWT that proves the identity of a machine: for `clientAssertion`, called for each token request. */
export type IdentitySource = (request?: { readonly signal?: AbortSignal | undefined }) => Promise<string>

export interface IdentityRequest {
  readonly url: URL
  readonly headers: Record<string, string>
  /** Reads the JWT from the text of a response with status 200. */
  readonly read: (text: string, headers: Headers) => unknown
  /** The `aud` that the JWT must have. */
  readonly audience?: string | undefined
}

/** Names in messages, and the way to the identity. */
export interface IdentityProvider {
  /** Such as `the metadata server of Google Cloud`. */
  readonly name: string
  /** What to check when it rejects the request. */
  readonly advice: string
  readonly fetch?: FetchLike | undefined
  /** @throws {TokenError} of kind `configuration` where the machine has no such identity */
  readonly prepare: () => IdentityRequest
}

const timeoutMs = 5_000
const maxBytes = 64 * 1024
/** A JWT is replaced this long before it expires, so that it is still valid when it arrives. */
const expiryMarginMs = 60_000

/** Requests an identity when it is needed, and again before it expires. */
export function createIdentitySource(provider: IdentityProvider): IdentitySource {
  let cached: { readonly jwt: string; readonly expiresAt: number; readonly url: string } | undefined
  return async ({ signal } = {}) => {
    const request = provider.prepare()
    if (cached?.url === request.url.href && cached.expiresAt - expiryMarginMs > Date.now()) return cached.jwt
    const jwt = await requestIdentity(provider, request, signal)
    cached = { jwt, expiresAt: checkClaims(jwt, provider, request), url: request.url.href }
    return jwt
  }
}

async function requestIdentity(
  { name, advice, fetch = globalThis.fetch }: IdentityProvider,
  { url, headers, read }: IdentityRequest,
  signal: AbortSignal | undefined,
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs)
  let response: Response
  let text: string | undefined
  try {
    response = await fetch(url, {
      headers,
      // A redirect would carry the header, which may be a secret, to another place.
      redirect: 'manual',
      cache: 'no-store',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
    })
    text = await readText(response)
  } catch (error) {
    if (signal?.aborted) throw error
    const reason = limit.aborted ? `did not respond within ${timeoutMs / 1_000} s` : 'could not be reached'
    throw unavailable(`${name} ${reason}. ${advice}`)
  }
  if (response.status >= 500 || response.status === 429) {
    throw unavailable(`${name} failed (status ${response.status}).`)
  }
  if (response.status !== 200) {
    throw configurationError(`${name} rejected the request (status ${response.status}). ${advice}`)
  }
  const jwt = text === undefined ? undefined : parse(() => read(text, response.headers))
  if (typeof jwt === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) return jwt
  throw unavailable(`The response of ${name} contains no JWT.`)
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
    throw configurationError(`The JWT of ${name} is not for the audience "${audience}".`)
  }
  if (typeof exp !== 'number' || exp * 1_000 <= Date.now()) {
    throw unavailable(`The JWT of ${name} has expired. Check the clock of this machine.`)
  }
  return exp * 1_000
}

function unavailable(sentence: string): TokenError {
  return new TokenError({ kind: 'unavailable', message: sentence.replace(/^t/, 'T') })
}

function parse(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}
