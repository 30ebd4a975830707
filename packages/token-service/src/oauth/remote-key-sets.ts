import { refreshed } from '@tokenwell/core/adapter'
import { createRemoteKeySet, type KeySet } from '@tokenwell/resource-server/internal'
import { createPublicFetch, reasonOf } from '../runtime/public-fetch.ts'

/** The keys at a URL could not be fetched. */
export class KeySetUnavailable extends Error {}

/** The JWK sets that applications and issuers publish; fetched on first use and kept while they cannot be fetched again. */
export interface RemoteKeySets {
  get(url: string): KeySet
  /** The set that the metadata of an issuer names (RFC 8414, or OpenID Connect Discovery). */
  ofIssuer(issuer: string): KeySet
}

const maxBytes = 64 * 1024
const timeoutMs = 5_000
/** Anybody can present an assertion, so a server that is down is not called for each of them. */
const pauseMs = 10_000

export interface RemoteKeySetOptions {
  /** Fetches the sets. @default from public addresses, and from `allowedHosts` */
  readonly fetchKeys?: typeof fetch | undefined
  readonly allowedHosts: readonly string[]
  /** Logs why a set is not available. */
  readonly warn: (message: string) => void
}

export function createRemoteKeySets({ fetchKeys, allowedHosts, warn }: RemoteKeySetOptions): RemoteKeySets {
  const publicFetch = createPublicFetch({ allowedHosts, setting: 'jwksAllowedHosts' })
  const sets = new Map<string, KeySet>()

  async function fetchJson(url: string): Promise<Readonly<Record<string, unknown>>> {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await (fetchKeys?.(url, { signal }) ?? publicFetch(url, { signal }))
    if (!response.ok) throw new Error(`it responded with status ${response.status}`)
    return Object(JSON.parse(await limitedText(response))) as Record<string, unknown>
  }

  async function fetchSet(url: string): Promise<readonly unknown[]> {
    try {
      const { keys } = await fetchJson(url)
      if (!Array.isArray(keys)) throw new Error('the response is not a JWK set')
      return keys
    } catch (error) {
      warn(`The JWK set at ${url} is not available: ${reasonOf(error)}`)
      throw new KeySetUnavailable(undefined, { cause: error })
    }
  }

  function find(key: string, load: () => Promise<readonly unknown[]>): KeySet {
    const set = sets.get(key) ?? createRemoteKeySet(load, { pauseMs, timeoutMs })
    sets.set(key, set)
    return set
  }

  function loaderOf(issuer: string): () => Promise<readonly unknown[]> {
    const jwksUrl = refreshed(() => discover(issuer), {
      maxAgeMs: 600_000,
      keepMs: 3_600_000,
      pauseMs,
      timeoutMs: 2 * timeoutMs,
    })
    return async () => {
      const { url } = await jwksUrl.get()
      return fetchSet(url).catch((error: unknown) => {
        // The issuer may have moved its keys.
        jwksUrl.expire()
        throw error
      })
    }
  }

  async function discover(issuer: string): Promise<{ readonly url: string }> {
    let reason = ''
    for (const url of metadataUrls(issuer)) {
      try {
        const metadata = await fetchJson(url)
        if (metadata['issuer'] !== issuer) throw new Error('it is of another issuer')
        const { jwks_uri: found } = metadata
        if (typeof found === 'string' && URL.canParse(found)) return { url: found }
        throw new Error('it contains no jwks_uri')
      } catch (error) {
        reason ||= reasonOf(error)
      }
    }
    warn(`The metadata of the trusted issuer ${issuer} is not available: ${reason}`)
    throw new KeySetUnavailable()
  }

  return {
    get: (url) => find(url, () => fetchSet(url)),
    // No URL of keys begins with a line break.
    ofIssuer: (issuer) => find(`\n${issuer}`, loaderOf(issuer)),
  }
}

/** OpenID Connect Discovery, which most platforms offer; RFC 8414. */
function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  return [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ]
}

async function limitedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new Error('the response is larger than 64 KiB')
  }
  return Buffer.concat(chunks).toString()
}
