import { configurationError } from '../protocol/secure-url.ts'

/** An exact origin, `https://*.example.com` for every sub-domain, or a function that returns true. */
export type AllowedOrigin = string | ((url: URL) => boolean)

/**
 * Makes the test whether a token may go to an address. Origins are compared whole, never by pattern.
 *
 * @throws {TokenError} of kind `configuration` for an empty list and for anything that is not an origin
 */
export function createOriginTest(
  allowedOrigins: readonly AllowedOrigin[],
): (address: string | URL) => boolean {
  if (!Array.isArray(allowedOrigins) || allowedOrigins.length === 0) {
    throw configurationError(
      "allowedOrigins is missing; name each API's origin, such as ['https://api.example.com']",
    )
  }
  const rules = allowedOrigins.map((origin, index) =>
    typeof origin === 'function' ? origin : readOrigin(origin, index),
  )
  // An address that begins with an exact origin needs no parsing: that is the common one.
  const exact = allowedOrigins.flatMap((origin) =>
    typeof origin === 'string' && !origin.includes('*') ? new URL(origin).origin : [],
  )
  const isExact = (url: string): boolean =>
    exact.some((origin) => url.startsWith(origin) && '/?#'.includes(url[origin.length] ?? '/'))
  // A blob: URL has an origin too, but leads nowhere that a token is known.
  const decide = (url: URL): boolean =>
    /^https?:$/.test(url.protocol) && rules.some((allows) => allows(url) === true)

  // Nor does the one of before: adapters ask for the same base again and again.
  let last: string | undefined

  return (address) => {
    if (address === last) return true
    if (typeof address === 'string' && isExact(address)) {
      last = address
      return true
    }
    const url = absoluteUrl(address)
    return typeof url === 'string' ? URL.canParse(url) && decide(new URL(url)) : decide(url)
  }
}

/** Pages and workers may give addresses relative to their own. */
export function absoluteUrl(url: string | URL): string | URL {
  if (typeof url !== 'string' || /^https?:\/\//.test(url)) return url
  const { document, location } = globalThis as {
    document?: { baseURI?: string }
    location?: { href?: string }
  }
  const base = document?.baseURI ?? location?.href
  return base !== undefined && URL.canParse(url, base) ? new URL(url, base) : url
}

function readOrigin(text: unknown, index: number): (url: URL) => boolean {
  const wildcard = /^(https?:\/\/)\*\.(.+)$/i.exec(String(text))
  const parsed = String(wildcard ? wildcard[1]! + wildcard[2]! : text)
  const url = URL.canParse(parsed) ? new URL(parsed) : undefined
  const bare = url && /^https?:$/.test(url.protocol) && url.pathname === '/' && !url.search && !url.hash
  if (!bare || url.username || url.password || url.hostname.includes('*')) {
    throw configurationError(
      `allowedOrigins[${index}] is no origin; ` +
        "write scheme, host and port alone, such as 'https://api.example.com' or 'https://*.example.com'",
    )
  }
  if (!wildcard) return ({ origin }) => origin === url.origin
  if (!url.hostname.includes('.') && url.hostname !== 'localhost') {
    throw configurationError(`allowedOrigins[${index}] would match a whole top-level domain`)
  }
  const suffix = `.${url.hostname}`
  return ({ protocol, port, hostname }) =>
    protocol === url.protocol && port === url.port && hostname.endsWith(suffix)
}
