import { isTokenError, type Clock, type FetchLike, type TokenError } from '@tokenwell/core'
import {
  createIssuerDiscovery,
  errorCode,
  metadataUrl,
  noStore,
  readBody,
  secureUrl,
} from '@tokenwell/core/protocol'
import type { JWK } from 'jose'
import { orAborted, withDeadline } from './deadline.ts'
import { tokenError } from '../http/token-verification-error.ts'
import { createKeySet, createRemoteKeySet, type KeySet } from './key-set.ts'

/** How long metadata is used before it is loaded again. */
const maxAgeMs = 600_000
/** After a failure, nothing is requested for this time. */
const pauseMs = 5_000
const timeoutMs = 5_000

export interface IssuerKeysOptions {
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
export function createIssuerKeys(options: IssuerKeysOptions): KeySet {
  const { jwks, maxKeyAgeMs, clock, waitUntil } = options
  if (jwks !== undefined) return createKeySet(jwks.keys)
  return createRemoteKeySet(createLoader(options), { maxKeyAgeMs, pauseMs, timeoutMs, clock, waitUntil })
}

/** Loads the keys, from where the metadata of the issuer says. */
function createLoader({
  issuer,
  jwksUrl,
  allowInsecureRequests,
  clock,
  fetch,
}: IssuerKeysOptions): () => Promise<readonly unknown[]> {
  const discovery = createIssuerDiscovery(
    issuer,
    ({ jwks_uri: url }) => (typeof url === 'string' ? { url } : 'has no jwks_uri'),
    { fetch, allowInsecureRequests, maxAgeMs, timeoutMs, clock },
  )

  const find = async (): Promise<URL> => {
    if (jwksUrl !== undefined) return secureUrl('jwksUrl', jwksUrl, allowInsecureRequests)
    const { url } = await discovery.find()
    return metadataUrl('jwks_uri', url, issuer, allowInsecureRequests)
  }

  const request = async (signal: AbortSignal): Promise<readonly unknown[]> => {
    const url = await find()
    const init = { headers: { accept: 'application/json' }, redirect: 'manual', signal } as const
    const response = await (fetch ?? globalThis.fetch)(url.href, { ...init, ...noStore() })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw keysError(issuer, `${url.href} responded with status ${response.status}`)
    }
    const { keys } = Object(JSON.parse(await readBody(response))) as { readonly keys?: unknown }
    if (!Array.isArray(keys)) throw keysError(issuer, `${url.href} responded without a list of keys`)
    return keys
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
