import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'

/** The keys at a URL could not be fetched. */
export class KeySetUnavailable extends Error {}

/** The JWK sets that applications publish at URLs; fetched on first use and kept for ten minutes. */
export interface RemoteKeySets {
  get(url: string): JWTVerifyGetKey
}

const maxBytes = 64 * 1024
const retryAfterMs = 10_000

/** @param fetchKeys - fetches the sets; default: the global `fetch` */
export function createRemoteKeySets(
  fetchKeys: typeof fetch = (...request) => fetch(...request),
): RemoteKeySets {
  const sets = new Map<string, JWTVerifyGetKey>()

  function create(url: string): JWTVerifyGetKey {
    let failedAtMs = -Infinity
    const set = createRemoteJWKSet(new URL(url), {
      [customFetch]: async (from, options) => limited(await fetchKeys(from, options)),
    })
    return async (header, token) => {
      // Anybody can present an assertion: a server that is down is not called for each of them.
      if (performance.now() - failedAtMs < retryAfterMs) throw new KeySetUnavailable()
      try {
        return await set(header, token)
      } catch (error) {
        if (error instanceof errors.JWKSNoMatchingKey || error instanceof errors.JWKSMultipleMatchingKeys)
          throw error
        failedAtMs = performance.now()
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
    if (bytes > maxBytes) throw new KeySetUnavailable()
  }
  return new Response(Buffer.concat(chunks), { status })
}
