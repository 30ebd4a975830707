import { createRemoteJWKSet, customFetch, errors, type JWTVerifyGetKey } from 'jose'
import { createPublicFetch, reasonOf } from '../runtime/public-fetch.ts'

/** The keys at a URL could not be fetched. */
export class KeySetUnavailable extends Error {}

/** The JWK sets that applications and issuers publish; fetched on first use and kept for ten minutes. */
export interface RemoteKeySets {
  get(url: string): JWTVerifyGetKey
  /** The set that the metadata of an issuer names (RFC 8414, or OpenID Connect Discovery). */
  ofIssuer(issuer: string): JWTVerifyGetKey
}

const maxBytes = 64 * 1024
const retryAfterMs = 10_000
const timeoutMs = 5_000
const metadataMs = 600_000

export interface RemoteKeySetOptions {
  /** Fetches the sets. @default from public addresses, and from `allowedHosts` */
  readonly fetchKeys?: typeof fetch | undefined
  readonly allowedHosts: readonly string[]
  /** Logs why a set is not available. */
  readonly warn: (message: string) => void
}

export function createRemoteKeySets({ fetchKeys, allowedHosts, warn }: RemoteKeySetOptions): RemoteKeySets {
  const publicFetch = createPublicFetch({ allowedHosts, setting: 'jwksAllowedHosts' })
  const fetchSet =
    fetchKeys ?? ((url: string, { signal }: Pick<RequestInit, 'signal'>) => publicFetch(url, { signal }))
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
        warn(`The JWK set at ${url} is not available: ${reasonOf(error)}`)
        throw new KeySetUnavailable(undefined, { cause: error })
      }
    }
  }

  function get(url: string): JWTVerifyGetKey {
    const set = sets.get(url) ?? create(url)
    sets.set(url, set)
    return set
  }

  const discovered = new Map<string, { readonly url: Promise<string>; untilMs: number }>()

  /** What failed is not tried again for a while: anybody can present a JWT. */
  function jwksUrlOf(issuer: string): Promise<string> {
    const known = discovered.get(issuer)
    if (known && known.untilMs > performance.now()) return known.url
    const entry = { url: discover(issuer), untilMs: Infinity }
    discovered.set(issuer, entry)
    const keepFor = (ms: number) => () => void (entry.untilMs = performance.now() + ms)
    entry.url.then(keepFor(metadataMs), keepFor(retryAfterMs))
    return entry.url
  }

  async function discover(issuer: string): Promise<string> {
    let reason = ''
    for (const url of metadataUrls(issuer)) {
      try {
        const response = await limited(await fetchSet(url, { signal: AbortSignal.timeout(timeoutMs) }))
        if (!response.ok) throw new Error(`it responded with status ${response.status}`)
        const metadata = (await response.json()) as { issuer?: unknown; jwks_uri?: unknown } | null
        if (metadata?.issuer !== issuer) throw new Error('it is of another issuer')
        if (typeof metadata.jwks_uri === 'string' && URL.canParse(metadata.jwks_uri)) return metadata.jwks_uri
        throw new Error('it contains no jwks_uri')
      } catch (error) {
        reason ||= reasonOf(error)
      }
    }
    warn(`The metadata of the trusted issuer ${issuer} is not available: ${reason}`)
    throw new KeySetUnavailable()
  }

  return {
    get,
    ofIssuer: (issuer) => async (header, token) => get(await jwksUrlOf(issuer))(header, token),
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
