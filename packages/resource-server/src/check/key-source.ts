import { secureUrl } from '@tokenwell/core/protocol'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
} from 'jose'
import { codeOf, tokenError } from '../failures.ts'
import { noStore } from '../runtime.ts'
import type { JwtCheckOptions } from './jwt-check-options.ts'

/** An unknown key ID loads the keys again, at most once in this time. */
const cooldownDuration = 1_000
const timeoutMs = 5_000

/** The issuer's public keys: those in the options, or a key set that is loaded when it is needed and again every 10 minutes. */
export function createKeySource(options: JwtCheckOptions): () => Promise<JWTVerifyGetKey> {
  const { issuer, jwks, jwksUrl, allowInsecureRequests } = options
  if (jwks !== undefined) {
    const local = createLocalJWKSet(jwks as JSONWebKeySet)
    return async () => local
  }
  const load = (url: string | URL, init?: RequestInit): Promise<Response> =>
    (options.fetch ?? globalThis.fetch)(url, { ...init, redirect: 'manual', ...noStore() })
  const remote = (url: URL): JWTVerifyGetKey =>
    createRemoteJWKSet(url, { cooldownDuration, timeoutDuration: timeoutMs, [customFetch]: load })
  let keys = jwksUrl === undefined ? undefined : remote(secureUrl('jwksUrl', jwksUrl, allowInsecureRequests))
  return async () => {
    keys ??= remote(secureUrl('jwks_uri', await discoverKeys(issuer, load), allowInsecureRequests))
    return keys
  }
}

/** The `jwks_uri` of the issuer's metadata (RFC 8414, section 3; OpenID Connect Discovery, section 4). */
async function discoverKeys(
  issuer: string,
  load: (url: URL, init: RequestInit) => Promise<Response>,
): Promise<string> {
  const { origin, pathname } = new URL(issuer)
  const path = pathname.replace(/\/$/, '')
  const places = [
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
    new URL(`${origin}${path}/.well-known/openid-configuration`),
  ]
  const outcomes: string[] = []
  for (const place of places) {
    try {
      const response = await load(place, { signal: AbortSignal.timeout(timeoutMs) })
      if (response.status === 200) {
        const found = readMetadata(await response.text(), issuer)
        if (typeof found === 'object') return found.keys
        outcomes.push(`${place.href} ${found}`)
      } else {
        outcomes.push(`${place.href} responded with status ${response.status}`)
        await response.body?.cancel()
      }
    } catch (error) {
      outcomes.push(`${place.href} failed (${codeOf(error)})`)
    }
  }
  throw tokenError(
    'unavailable',
    `Could not find metadata for the issuer "${issuer}": ${outcomes.join('; ')}.`,
  )
}

/** The URL of the issuer's keys, or the reason that there is none. */
function readMetadata(body: string, issuer: string): { readonly keys: string } | string {
  let metadata: Record<string, unknown>
  try {
    metadata = Object(JSON.parse(body)) as Record<string, unknown>
  } catch {
    return 'is not JSON'
  }
  const { issuer: named, jwks_uri: keys } = metadata
  // RFC 8414, section 3.3: otherwise one issuer could pose as another.
  if (named !== issuer)
    return named ? `has the issuer ${JSON.stringify(named).slice(0, 200)}` : 'has no issuer'
  return typeof keys === 'string' ? { keys } : 'has no jwks_uri'
}
