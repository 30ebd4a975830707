import { isTokenError, type Clock, type FetchLike, type TokenError } from '@tokenwell/core'
import { createIssuerDiscovery, errorCode, noStore, readBody, secureUrl } from '@tokenwell/core/protocol'
import { createLocalJWKSet, errors, type JWK, type JWTVerifyGetKey } from 'jose'
import { orAborted, withDeadline } from './deadline.ts'
import { tokenError } from '../http/token-verification-error.ts'
import { sharesWork } from './token-check.ts'

/** How long keys and metadata are used before they are loaded again. */
const maxAgeMs = 600_000
/** How long keys are used if they cannot be loaded again. */
const defaultMaxKeyAgeMs = 3_600_000
/** How long a request with a known key waits for keys that are loaded again. */
const patienceMs = 500
/** An unknown key ID loads the keys again, at most once in this time. */
const cooldownMs = 1_000
/** After a failure, nothing is requested for this time. */
const failureCooldownMs = 5_000
const timeoutMs = 5_000

export interface KeySourceOptions {
  readonly issuer: string
  readonly jwksUrl?: string | URL | undefined
  readonly jwks?: { readonly keys: readonly JWK[] } | undefined
  readonly maxKeyAgeMs?: number | undefined
  readonly clock: Clock
  readonly fetch?: FetchLike | undefined
  readonly allowInsecureRequests?: boolean | undefined
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined
}

/** The issuer's public keys: those in the options, or a key set that is loaded by one request for all tokens. */
export function createKeySource(options: KeySourceOptions): JWTVerifyGetKey {
  const { jwks, clock, maxKeyAgeMs = defaultMaxKeyAgeMs } = options
  if (jwks !== undefined) return createLocalJWKSet({ keys: jwks.keys.filter(isKey) })
  const load = createLoader(options)
  let loaded: { readonly keys: JWTVerifyGetKey; readonly at: number } | undefined
  let failed: { readonly error: TokenError; readonly at: number } | undefined
  let pending: { readonly keys: Promise<JWTVerifyGetKey>; readonly at: number } | undefined

  const age = ({ at }: { readonly at: number } = { at: -Infinity }): number => clock.monotonic() - at

  const request = async (): Promise<JWTVerifyGetKey> => {
    try {
      const keys = await load()
      loaded = { keys, at: clock.monotonic() }
      failed = undefined
      return keys
    } catch (error) {
      failed = { error: error as TokenError, at: clock.monotonic() }
      throw error
    } finally {
      pending = undefined
    }
  }

  const reload = async (): Promise<JWTVerifyGetKey> => {
    if (failed && age(failed) < failureCooldownMs) throw failed.error
    if (pending) return pending.keys
    const keys = request()
    if (sharesWork(options)) {
      pending = { keys, at: clock.monotonic() }
      options.waitUntil?.(keys.catch(() => {}))
    }
    return keys
  }

  /** Known keys serve while others are awaited: for a moment if the issuer responds late, for an hour if it fails. */
  const current = async (): Promise<JWTVerifyGetKey> => {
    if (loaded && age(loaded) < Math.min(maxAgeMs, maxKeyAgeMs)) return loaded.keys
    const known = loaded && age(loaded) < maxKeyAgeMs ? loaded.keys : undefined
    const next = reload()
    if (known === undefined) return next
    next.catch(() => {})
    const waitMs = patienceMs - (pending ? age(pending) : 0)
    if (waitMs <= 0) return known
    return withDeadline(waitMs, (signal) => orAborted(signal, next)).catch(() => known)
  }

  return async (header, token) => {
    const keys = await current()
    try {
      return await keys(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || age(loaded) < cooldownMs) throw error
      return (await reload())(header, token)
    }
  }
}

/** A key that is not understood does not concern the others (RFC 7517, section 5). */
function isKey(key: unknown): key is JWK {
  return typeof (Object(key) as { readonly kty?: unknown }).kty === 'string'
}

/** Loads the keys, from where the metadata of the issuer says. */
function createLoader({
  issuer,
  jwksUrl,
  allowInsecureRequests,
  clock,
  fetch,
}: KeySourceOptions): () => Promise<JWTVerifyGetKey> {
  const discovery = createIssuerDiscovery(
    ({ jwks_uri: url }) => (typeof url === 'string' ? { url } : 'has no jwks_uri'),
    { maxAgeMs, timeoutMs, clock },
  )

  const find = async (): Promise<URL> => {
    if (jwksUrl !== undefined) return secureUrl('jwksUrl', jwksUrl, allowInsecureRequests)
    const { url } = await discovery.find(issuer, fetch, allowInsecureRequests)
    return secureUrl('jwks_uri', url, allowInsecureRequests)
  }

  const request = async (signal: AbortSignal): Promise<JWTVerifyGetKey> => {
    const url = await find()
    const init = { headers: { accept: 'application/json' }, redirect: 'manual', signal } as const
    const response = await (fetch ?? globalThis.fetch)(url, { ...init, ...noStore() })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw keysError(issuer, `${url.href} responded with status ${response.status}`)
    }
    const { keys } = Object(JSON.parse(await readBody(response))) as { readonly keys?: unknown }
    if (!Array.isArray(keys)) throw keysError(issuer, `${url.href} responded without a list of keys`)
    return createLocalJWKSet({ keys: keys.filter(isKey) })
  }

  return async () => {
    try {
      return await withDeadline(timeoutMs, (signal) => orAborted(signal, request(signal)))
    } catch (error) {
      discovery.expire()
      if (isTokenError(error)) throw tokenError('unavailable', error.message)
      throw keysError(issuer, errorCode(error))
    }
  }
}

function keysError(issuer: string, reason: string): TokenError {
  return tokenError('unavailable', `Could not load the keys of the issuer "${issuer}" (${reason}).`)
}
