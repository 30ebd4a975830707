import { refreshed, type RefreshedOptions } from '@tokenwell/core/adapter'
import {
  createLocalJWKSet,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWK,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
  type JWTVerifyResult,
} from 'jose'

/** The public keys of an issuer. */
export interface KeySet {
  /**
   * Verifies a JWT with the key that its header names; without a key ID, with each suitable key, at most 20.
   *
   * @throws an error of `jose`, or the one that `load` threw
   */
  verify(token: string, options: JWTVerifyOptions): Promise<JWTVerifyResult>
}

/** How long keys are used before they are loaded again. */
const maxAgeMs = 600_000
/** How long a request with a known key waits for keys that are loaded again. */
const patienceMs = 500
/** Keys are loaded for tokens that no known key fits at most once in this time. */
const reloadMs = 1_000
/** For one key ID whose key does not fit, at most once in this time: its key may have been replaced. */
const replacementMs = 60_000
const maxTriedKeys = 20
const maxKeyIds = 1_000

export interface RemoteKeySetOptions extends Omit<
  RefreshedOptions<object>,
  'maxAgeMs' | 'keepMs' | 'patienceMs'
> {
  /** How long keys are used while they cannot be loaded again, counted from when they were loaded. @default 3_600_000 */
  readonly maxKeyAgeMs?: number | undefined
}

interface LoadedKeys {
  readonly keys: LocalKeys
  /** When loading them began. */
  readonly begunAt: number
}

/** Keys that are known from the beginning. */
export function createKeySet(keys: readonly unknown[]): KeySet {
  const known = localKeys(keys)
  return { verify: (token, options) => verifyWith(known, token, options) }
}

/**
 * Keys that are loaded when they are needed, every ten minutes, and for a key ID that is unknown or whose key does not fit.
 *
 * A token is rejected for an unknown key ID only after a load that began when the token was here already.
 *
 * @param load returns the `keys` of a JWK set
 */
export function createRemoteKeySet(
  load: () => Promise<readonly unknown[]>,
  { maxKeyAgeMs = 3_600_000, ...options }: RemoteKeySetOptions,
): KeySet {
  const monotonic = (): number => options.clock?.monotonic() ?? performance.now()
  let begunAt = -Infinity
  let isLoading = false
  const replacedAt = new Map<string | undefined, number>()

  const current = refreshed<LoadedKeys>(
    async () => {
      const at = (begunAt = monotonic())
      isLoading = true
      try {
        return { keys: localKeys(await load()), begunAt: at }
      } catch (error) {
        // The pause applies.
        begunAt = -Infinity
        throw error
      } finally {
        isLoading = false
      }
    },
    {
      ...options,
      maxAgeMs: Math.min(maxAgeMs, maxKeyAgeMs),
      keepMs: Math.max(0, maxKeyAgeMs - maxAgeMs),
      patienceMs,
    },
  )

  /** How long no other load may begin; 0 if one is pending, which may have what is missing. */
  const waitMs = (): number => (isLoading ? 0 : Math.max(0, reloadMs - (monotonic() - begunAt)))

  const next = async (than: LoadedKeys): Promise<LoadedKeys> => {
    const ms = waitMs()
    // Callers that wait here share the next load.
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(ms, reloadMs)))
    return current.next(than)
  }

  /** Whether keys may be loaded because the one with this ID does not fit. Such tokens do not wait: most are forged. */
  const mayBeReplaced = (token: string): boolean => {
    const { kid } = decodeProtectedHeader(token)
    const now = monotonic()
    if (waitMs() > 0 || now - (replacedAt.get(kid) ?? -Infinity) < replacementMs) return false
    if (replacedAt.size >= maxKeyIds) replacedAt.clear()
    replacedAt.set(kid, now)
    return true
  }

  return {
    async verify(token, verifyOptions) {
      const arrivedAt = monotonic()
      let loaded = await current.get()
      for (;;) {
        try {
          return await verifyWith(loaded.keys, token, verifyOptions)
        } catch (error) {
          const isUnknown = error instanceof errors.JWKSNoMatchingKey
          const isUnfit = error instanceof errors.JWSSignatureVerificationFailed
          if (loaded.begunAt >= arrivedAt || !(isUnknown || (isUnfit && mayBeReplaced(token)))) throw error
          try {
            loaded = await next(loaded)
          } catch (failure) {
            throw isUnknown ? failure : error
          }
        }
      }
    },
  }
}

interface LocalKeys {
  /** The key that a header names. Throws an error with all of them if several fit. */
  readonly find: JWTVerifyGetKey
  /** At most 20 of those that fit a header. */
  readonly findFew: JWTVerifyGetKey
}

async function verifyWith(
  { find, findFew }: LocalKeys,
  token: string,
  options: JWTVerifyOptions,
): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
  }
  try {
    return await jwtVerify(token, findFew, options)
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options)
      } catch (failure) {
        // The signature fits: no other key can. An error that is not of jose means that this key is not usable.
        if (
          failure instanceof errors.JOSEError &&
          !(failure instanceof errors.JWSSignatureVerificationFailed)
        )
          throw failure
      }
    }
    throw new errors.JWSSignatureVerificationFailed()
  }
}

function localKeys(keys: readonly unknown[]): LocalKeys {
  const usable = keys.filter(isKey).map(forVerification)
  const few = new Map<string, JWTVerifyGetKey>()
  return {
    find: createLocalJWKSet({ keys: usable }),
    findFew(header, token) {
      const { alg, kid } = header
      const id = JSON.stringify([alg, kid])
      const known = few.get(id)
      if (known) return known(header, token)
      // An issuer may publish thousands, and a key that cannot be imported takes as long as one that can.
      const fitting = usable.filter(
        (key) =>
          key.kty === keyTypeOf(alg) &&
          [alg, undefined].includes(key.alg) &&
          [key.kid, undefined].includes(kid),
      )
      const found = createLocalJWKSet({ keys: fitting.slice(0, maxTriedKeys) })
      few.set(id, found)
      return found(header, token)
    },
  }
}

function keyTypeOf(algorithm: string): string {
  if (algorithm.startsWith('ES')) return 'EC'
  return algorithm.startsWith('Ed') ? 'OKP' : 'RSA'
}

/** A key that is not understood does not concern the others (RFC 7517, section 5). */
function isKey(key: unknown): key is JWK {
  return typeof (Object(key) as { readonly kty?: unknown }).kty === 'string'
}

/** A public key that is marked for signing as well would not be imported. */
function forVerification(key: JWK): JWK {
  return Array.isArray(key.key_ops) && key.key_ops.includes('verify') ? { ...key, key_ops: ['verify'] } : key
}
