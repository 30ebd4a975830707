import { isTokenError, TokenError, type FetchLike } from '@tokenwell/core'
import { configurationError } from '@tokenwell/core/protocol'
import { decodeJwt } from 'jose'

/** The token request that a JWT is for; `clientAssertion` and `jwtBearer` pass it. */
interface IdentityRequest {
  readonly tokenEndpoint?: URL | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * Returns a JWT that proves the identity of a machine: for `clientAssertion` and `jwtBearer`, called for each token
 * request. They share one JWT until a minute before it expires, or until a token endpoint rejects it. A JWT with a `jti`,
 * which a server may accept only once (RFC 7523, section 3), is sent to each token endpoint once.
 */
export interface IdentitySource {
  (request?: IdentityRequest): Promise<string>
  /** Reports that a token endpoint rejected the JWT: it is not returned again. */
  reject(jwt: string): void
}

/** A service that issues the JWTs of a machine. */
export interface IdentityService {
  /** In messages, such as `the metadata server of Google Cloud`. */
  readonly name: string
  /** What to check when it rejects the request, or cannot be reached. */
  readonly advice: string
  /** @throws {TokenError} of kind `configuration` where the machine has no such identity */
  readonly prepare: () => {
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
}

const timeoutMs = 5_000
const maxBytes = 64 * 1024
/** A JWT is replaced this long before it expires, so that it is still valid when it arrives. */
const expiryMarginMs = 60_000
/** A JWT is replaced when it has been sent to more. */
const maxEndpoints = 10_000

interface Identity {
  readonly jwt: string
  readonly expiresAt: number
  /** Whether a server may accept it only once. */
  readonly hasId: boolean
}

/** A JWT that was requested, and where it has been sent. */
class IssuedIdentity {
  readonly key: string
  readonly identity: Promise<Identity>
  readonly endpoints = new Set<string>()
  readonly #wall = Date.now()
  readonly #monotonic = performance.now()
  #issued: Identity | undefined

  constructor(key: string, identity: Promise<Identity>) {
    this.key = key
    this.identity = identity.then((issued) => (this.#issued = issued))
  }

  get jwt(): string | undefined {
    return this.#issued?.jwt
  }

  /** Also while it is pending. By the clock that advanced further: one may be set back, the other one stop with the machine. */
  get isFresh(): boolean {
    const ageMs = Math.max(Date.now() - this.#wall, performance.now() - this.#monotonic)
    return this.#issued === undefined || this.#issued.expiresAt - this.#wall - expiryMarginMs > ageMs
  }
}

/** Requests a JWT when it is needed, and again before it expires. */
export function createIdentitySource(service: IdentityService): IdentitySource {
  let latest: IssuedIdentity | undefined
  let issuesWithId = false

  function request({ key, send, audience }: ReturnType<IdentityService['prepare']>): IssuedIdentity {
    const identity = requestIdentity(service, send).then((jwt) => readClaims(jwt, service.name, audience))
    const issued = new IssuedIdentity(key, identity)
    // Those who wait for it share the failure; the next one tries again.
    issued.identity.catch(() => (latest = latest === issued ? undefined : latest))
    return issued
  }

  async function identify({ tokenEndpoint, signal }: IdentityRequest = {}): Promise<string> {
    const prepared = service.prepare()
    const endpoint = tokenEndpoint?.href
    for (;;) {
      const wasSent = endpoint !== undefined && latest?.endpoints.has(endpoint) === true
      const isUsable =
        latest?.key === prepared.key &&
        latest.isFresh &&
        latest.endpoints.size < maxEndpoints &&
        !(wasSent && issuesWithId)
      const issued = latest && isUsable ? latest : (latest = request(prepared))
      const isFirst = endpoint === undefined || !issued.endpoints.has(endpoint)
      if (endpoint !== undefined) issued.endpoints.add(endpoint)
      const { jwt, hasId } = await unlessAborted(issued.identity, signal)
      issuesWithId = hasId
      if (isFirst || !hasId) return jwt
    }
  }

  return Object.assign(identify, {
    reject(jwt: string) {
      if (latest?.jwt === jwt) latest = undefined
    },
  })
}

async function requestIdentity(
  { name, advice }: IdentityService,
  send: (signal: AbortSignal) => Promise<unknown>,
): Promise<string> {
  const limit = AbortSignal.timeout(timeoutMs)
  let jwt: unknown
  try {
    // Not every client heeds a signal.
    jwt = await unlessAborted(send(limit), limit)
  } catch (error) {
    if (isTokenError(error)) throw error
    const reason = limit.aborted ? `did not respond within ${timeoutMs / 1_000} s` : 'could not be reached'
    throw unavailable(`${name} ${reason}. ${advice}`)
  }
  if (typeof jwt === 'string' && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) return jwt
  throw unavailable(`The response of ${name} contains no JWT.`)
}

function unlessAborted<Value>(work: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(signal.reason as Error)
    if (signal.aborted) leave()
    signal.addEventListener('abort', leave, { once: true })
    const stop = (): void => signal.removeEventListener('abort', leave)
    work.then(resolve, reject).then(stop, stop)
  })
}

function readClaims(jwt: string, name: string, audience: string | undefined): Identity {
  const { aud, exp, jti } = parse(() => decodeJwt(jwt)) ?? {}
  if (audience !== undefined && ![aud].flat().includes(audience)) {
    throw rejected(`The JWT of ${name} is not for the audience "${audience}".`)
  }
  if (typeof exp !== 'number' || exp * 1_000 <= Date.now()) {
    throw unavailable(`The JWT of ${name} has expired. Check the clock of this machine.`)
  }
  return { jwt, expiresAt: exp * 1_000, hasId: jti !== undefined }
}

/** A metadata service over HTTP. */
export interface HttpIdentityService extends Pick<IdentityService, 'name' | 'advice'> {
  readonly fetch: FetchLike | undefined
  readonly audience?: string | undefined
  /** @throws {TokenError} of kind `configuration` where the machine has no such identity */
  readonly prepare: () => { readonly url: URL; readonly headers: Record<string, string> }
  /** Reads the JWT from the text of a response with status 200. */
  readonly read: (text: string, headers: Headers) => unknown
}

export function createHttpIdentitySource(service: HttpIdentityService): IdentitySource {
  const { name, advice, audience, read } = service
  return createIdentitySource({
    name,
    advice,
    prepare() {
      const { url, headers } = service.prepare()
      return {
        key: url.href,
        audience,
        async send(signal) {
          // Looked up at each call, as tests replace it.
          const { fetch = globalThis.fetch } = service
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

/** @throws {TokenError} of kind `configuration`, which does not quote the value: it may hold a secret */
export function urlIn(variable: string): URL {
  const value = process.env[variable] ?? ''
  if (/^https?:/i.test(value) && URL.canParse(value)) return new URL(value)
  throw configurationError(
    `${variable} is not a valid URL. Its platform sets it to one that starts with http.`,
  )
}

export const unavailable = (sentence: string): TokenError => failure('unavailable', sentence)
export const rejected = (sentence: string): TokenError => failure('configuration', sentence)

/** Names begin with `the`. */
function failure(kind: 'unavailable' | 'configuration', sentence: string): TokenError {
  return new TokenError({ kind, message: sentence.replace(/^t/, 'T') })
}

function parse<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
