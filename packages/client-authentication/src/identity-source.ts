import { isTokenError, TokenError, type FetchLike } from '@tokenwell/core'
import { refreshed, type Refreshed } from '@tokenwell/core/adapter'
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
    readonly audience: string
    /** Whether the ID of an application, a UUID, may take the place of its URI in `aud`. */
    readonly allowsApplicationId?: boolean | undefined
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
  readonly issuedAt: number
  readonly expiresAt: number
  /** Whether a server may accept it only once. */
  readonly hasId: boolean
  /** Where it has been sent, if it has an ID. */
  readonly endpoints: Set<string>
}

/** Requests a JWT when it is needed, and again before it expires. */
export function createIdentitySource(service: IdentityService): IdentitySource {
  type Prepared = ReturnType<IdentityService['prepare']>
  let latest: { readonly key: string; readonly identity: Refreshed<Identity, [Prepared]> } | undefined

  const create = (key: string): NonNullable<typeof latest> => ({
    key,
    identity: refreshed(
      async (prepared: Prepared) => {
        const jwt = await requestIdentity(service, prepared.send)
        return readClaims(jwt, service.name, prepared)
      },
      {
        maxAgeMs: ({ expiresAt, issuedAt }) => expiresAt - issuedAt - expiryMarginMs,
        // Callers that wait together share a failure; the next call tries again.
        keepMs: 0,
        pauseMs: 0,
        timeoutMs,
      },
    ),
  })

  async function identify({ tokenEndpoint, signal }: IdentityRequest = {}): Promise<string> {
    const prepared = service.prepare()
    if (latest?.key !== prepared.key) latest = create(prepared.key)
    const { identity } = latest
    const endpoint = tokenEndpoint?.href
    let current = await unlessAborted(identity.get(prepared), signal)
    if (endpoint === undefined) return current.jwt
    while (current.hasId) {
      const { endpoints } = current
      if (!endpoints.has(endpoint) && endpoints.size < maxEndpoints) {
        endpoints.add(endpoint)
        break
      }
      current = await unlessAborted(identity.next(current, prepared), signal)
    }
    return current.jwt
  }

  return Object.assign(identify, {
    reject(jwt: string) {
      if (latest?.identity.peek()?.jwt === jwt) latest = undefined
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

function readClaims(
  jwt: string,
  name: string,
  {
    audience,
    allowsApplicationId,
  }: Pick<ReturnType<IdentityService['prepare']>, 'audience' | 'allowsApplicationId'>,
): Identity {
  const { aud, exp, jti } = parse(() => decodeJwt(jwt)) ?? {}
  const names = (each: unknown): boolean =>
    each === audience ||
    (allowsApplicationId === true && /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(String(each)))
  if (![aud].flat().some(names)) {
    throw rejected(`The JWT of ${name} is not for the audience "${audience}".`)
  }
  const issuedAt = Date.now()
  if (typeof exp !== 'number' || exp * 1_000 <= issuedAt) {
    throw unavailable(`The JWT of ${name} has expired. Check the clock of this machine.`)
  }
  return { jwt, issuedAt, expiresAt: exp * 1_000, hasId: jti !== undefined, endpoints: new Set() }
}

/** A metadata service over HTTP. */
export interface HttpIdentityService extends Pick<IdentityService, 'name' | 'advice'> {
  readonly fetch: FetchLike | undefined
  readonly audience: string
  /** As in what {@link IdentityService} prepares. */
  readonly allowsApplicationId?: boolean | undefined
  /** @throws {TokenError} of kind `configuration` where the machine has no such identity */
  readonly prepare: () => { readonly url: URL; readonly headers: Record<string, string> }
  /** Reads the JWT from the text of a response with status 200. */
  readonly read: (text: string, headers: Headers) => unknown
}

export function createHttpIdentitySource(service: HttpIdentityService): IdentitySource {
  const { name, advice, audience, allowsApplicationId, read } = service
  return createIdentitySource({
    name,
    advice,
    prepare() {
      const { url, headers } = service.prepare()
      return {
        key: url.href,
        audience,
        allowsApplicationId,
        async send(signal) {
          // Looked up at each call, as tests replace it.
          const { fetch = globalThis.fetch } = service
          // A redirect would carry the header, which may be a secret, to another place.
          const response = await fetch(url.href, { headers, redirect: 'manual', cache: 'no-store', signal })
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
export function urlIn(variable: string, value: string): URL {
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
