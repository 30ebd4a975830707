import { configurationError } from '../protocol/token-error.ts'
import { isSecure } from '../protocol/secure-url.ts'

/** An exact origin, `https://*.example.com` for every subdomain, or a function that returns true. */
export type AllowedOrigin = string | ((url: URL) => boolean)

/**
 * Creates the check of a URL to which a token is sent. Origins are compared as a whole, never by regular expressions.
 * Plain HTTP is allowed to loopback hosts, or with `allowInsecureRequests`.
 *
 * @throws {TokenError} of kind `configuration` for an empty list and for anything that is not an origin
 */
export function createOriginCheck(
  allowedOrigins: readonly AllowedOrigin[] | undefined,
  allowInsecureRequests: boolean,
): (url: string | URL) => boolean {
  if (!Array.isArray(allowedOrigins) || allowedOrigins.length === 0) {
    throw configurationError(
      "allowedOrigins is missing. List the origin of each API, such as ['https://api.example.com'].",
    )
  }
  // An untyped function may return anything.
  const rules: ((url: URL) => unknown)[] = allowedOrigins.map((origin: AllowedOrigin, index) =>
    typeof origin === 'function' ? origin : readOrigin(origin, index, allowInsecureRequests),
  )
  const exact = allowedOrigins.flatMap((origin: AllowedOrigin) =>
    typeof origin === 'string' && !origin.includes('*') ? new URL(origin).origin : [],
  )
  // Such a URL needs no parsing: its authority ends at the slash. In Node 20, `startsWith` takes three times as long as
  // `indexOf`, and this check is most of what attaching a token costs.
  function isExact(url: string): boolean {
    for (const origin of exact) {
      if (url.indexOf(origin) === 0 && (url[origin.length] === '/' || url === origin)) return true
    }
    return false
  }
  // `isSecure` also rejects a blob: URL, which has an origin, but no server.
  const check = (url: URL): boolean =>
    isSecure(url, allowInsecureRequests) && rules.some((allows) => allows(url) === true)

  return (value) => {
    if (typeof value === 'string' && isExact(value)) return true
    const url = absoluteUrl(value)
    return typeof url === 'string' ? URL.canParse(url) && check(new URL(url)) : check(url)
  }
}

/** Pages and workers may use URLs relative to their own. */
export function absoluteUrl(url: string | URL): string | URL {
  if (typeof url !== 'string' || /^https?:\/\//.test(url)) return url
  const { document, location } = globalThis as {
    document?: { baseURI?: string }
    location?: { href?: string }
  }
  const base = document?.baseURI ?? location?.href
  return URL.canParse(url, base) ? new URL(url, base) : url
}

/** `null` for a URL without one. */
export function originOf(value: string | URL): string {
  const url = absoluteUrl(value)
  return URL.canParse(url) ? new URL(url).origin : 'null'
}

/** Second-level domains under which everybody can register, such as `co.uk`. */
const sharedSecondLevel = /^(?:ac|co|com|edu|gob|gov|go|ltd|me|mil|ne|net|nom|or|org|plc|sch)\.[a-z]{2}$/

function readOrigin(text: unknown, index: number, allowInsecureRequests: boolean): (url: URL) => boolean {
  if (text === undefined || text === null || text === '') {
    throw configurationError(
      `allowedOrigins[${index}] is ${text === '' ? 'empty' : text}. Set the environment variable that it comes from, ` +
        'or pass a function of the URL, which is called for each request.',
    )
  }
  // oxlint-disable-next-line typescript/no-base-to-string -- an untyped program may pass anything
  const origin = String(text)
  const wildcard = /^(https?:\/\/)\*\.(.+)$/i.exec(origin)
  const parsed = wildcard ? wildcard[1]! + wildcard[2]! : origin
  const url = URL.canParse(parsed) ? new URL(parsed) : undefined
  const bare = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
  if (!bare || url.username || url.password || url.hostname.includes('*')) {
    throw configurationError(
      `allowedOrigins[${index}] is not a valid origin. ` +
        "Set only scheme, host and port, such as 'https://api.example.com' or 'https://*.example.com'.",
    )
  }
  if (!isSecure(url, allowInsecureRequests)) {
    throw configurationError(
      `allowedOrigins[${index}] must start with https://, because tokens are sent to it. ` +
        'Inside a trusted network, set allowInsecureRequests: true.',
    )
  }
  if (!wildcard) return (other) => other.origin === url.origin
  const domain = url.hostname.replace(/\.$/, '')
  if ((!domain.includes('.') && domain !== 'localhost') || sharedSecondLevel.test(domain)) {
    throw configurationError(
      `allowedOrigins[${index}] would match domains of other owners. Use your own domain.`,
    )
  }
  const suffix = `.${url.hostname}`
  return ({ protocol, port, hostname }) =>
    protocol === url.protocol && port === url.port && hostname.endsWith(suffix)
}
