import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { createPublicKeyFetch } from './fetch-public-keys.ts'

/** The keys at a URL could not be fetched. */
export class KeySetUnavailable extends Error {}

/** The JWK sets that applications publish at URLs; fetched on first use and kept for ten minutes. */
export interface RemoteKeySets {
  get(url: string): JWTVerifyGetKey
}

const maxBytes = 64 * 1024
const retryAfterMs = 10_000

export interface RemoteKeySetOptions {
  /** Fetches the sets. @default from public addresses, and from `allowedHosts` */
  readonly fetchKeys?: typeof fetch | undefined
  readonly allowedHosts: readonly string[]
  /** Logs why a set is not available. */
  readonly warn: (message: string) => void
}

export function createRemoteKeySets({ fetchKeys, allowedHosts, warn }: RemoteKeySetOptions): RemoteKeySets {
  const fetchSet = fetchKeys ?? createPublicKeyFetch({ allowedHosts })
  const sets = new Map<string, JWTVerifyGetKey>()

  function create(url: string): JWTVerifyGetKey {
    let failedAtMs = -Infinity
    const set = createRemoteJWKSet(new URL(url), {
      [customFetch]: async (from, options) => limited(await fetchSet(from, options)),
    })
    return async (header, token) => {
      // Anybody can present an assertion, so a server that is down is not called for each of them.
      if (performance.now() - failedAtMs < retryAfterMs) throw new KeySetUnavailable()
      try {
        return await set(header, token)
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
          throw error
        failedAtMs = performance.now()
        // The error for a host with several addresses has a code, but no message.
        const { message, code } = error as NodeJS.ErrnoException
        warn(`The JWK set at ${url} is not available: ${message || code || 'unknown reason'}`)
        throw new KeySetUnavailable(undefined, { cause: error })
      }
    }
  }

  return {
    get(url) {
      const set = sets.get(url) ?? create(url)
      sets.set(url, set)
      return set
    },
  }
}

async function limited({ status, body }: Response): Promise<Response> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new KeySetUnavailable('the response is larger than 64 KiB')
  }
  return new Response(Buffer.concat(chunks), { status })
}
