import { configurationError } from '../protocol/token-error.ts'
import { isSecure } from '../protocol/secure-url.ts'

/** An exact origin, `https://*.example.com` for every subdomain, or a function that returns true. */
export type AllowedOrigin = string | ((url: URL) => boolean)

/** The base URL of a client, and the name of the client's option for it. */
export interface ClientBaseUrl {
  readonly option: string
  /** May be relative to the page. */
  readonly url: string | URL | undefined
}

/**
 * Creates the check of a URL to which a token is sent. Origins are compared as a whole, never by regular expressions.
 * Plain HTTP is allowed to loopback hosts, or with `allowInsecureRequests`.
 *
 * @param base without a list, its origin alone is allowed
 * @throws {TokenError} of kind `configuration` for an empty list and for anything that is not an origin
 */
export function createOriginCheck(
  listed: readonly AllowedOrigin[] | undefined,
  base: ClientBaseUrl | undefined,
  allowInsecureRequests: boolean,
): (url: string | URL) => boolean {
  const allowedOrigins = listed ?? (base && [baseOrigin(base)])
  if (!Array.isArray(allowedOrigins) || allowedOrigins.length === 0) {
    throw configurationError(
      "allowedOrigins is missing. List the origin of each API, such as ['https://api.example.com'].",
    )
  }
  // An untyped function may return anything.
  const rules: ((url: URL) => unknown)[] = allowedOrigins.map((origin: AllowedOrigin, index) => {
    if (typeof origin === 'function') return origin
    const name = listed ? `allowedOrigins[${index}]` : base!.option
    return readOrigin(origin, name, allowInsecureRequests)
  })
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

/** @throws {TokenError} of kind `configuration` without a base URL, and for a relative one outside a page */
function baseOrigin({ option, url = '' }: ClientBaseUrl): string {
  const origin = url === '' ? 'null' : originOf(url)
  if (origin !== 'null') return origin
  // One without a scheme may contain a password.
  const shown = String(url).includes('@') ? '' : ` "${String(url)}"`
  const problem = url === '' ? `${option} is missing too` : `${option}${shown} has no origin`
  throw configurationError(
    `allowedOrigins is missing, and ${problem}. Set an absolute ${option}, or allowedOrigins.`,
  )
}

/**
 * Creates the function that resolves a path as the base URL of axios and ky does: it is appended. Anything else, such as an
 * absolute URL, stays as it is.
 *
 * @returns a function that throws for `orders:search`: to the URL standard, this is no path, but a URL with the scheme
 * `orders:`
 * @throws {TokenError} of kind `configuration` for an invalid base URL
 */
export function createBaseUrlJoin({
  option,
  url,
}: ClientBaseUrl): (input: string | URL | Request) => string | URL | Request {
  if (url === undefined) return (input) => input
  const absolute = absoluteUrl(url)
  const base = URL.canParse(absolute) ? new URL(absolute) : undefined
  if (!base || !isPlain(base)) {
    throw configurationError(
      `${option} is not a valid base URL. Set an absolute URL without a query, such as 'https://api.example.com/v1'.`,
    )
  }
  const prefix = base.href.replace(/\/$/, '')
  return (input) => {
    if (typeof input !== 'string' || absoluteStart.test(input)) return input
    const [scheme] = /^[a-z][a-z\d+.-]*:/i.exec(input) ?? []
    if (scheme) {
      throw configurationError(
        `"${scheme}…" is a URL with a scheme, so ${option} does not apply to it. For a path, write "/${scheme}…".`,
      )
    }
    return /^(?:[/?#]|$)/.test(input) ? prefix + input : `${prefix}/${input}`
  }
}

/** How a URL starts that is meant as one: with an authority, or with a scheme that is known to have none. */
const absoluteStart = /^(?:(?:[a-z][a-z\d+.-]*:)?\/\/|(?:https?|data|blob|about|file):)/i

/** Only scheme, host, port and path. */
function isPlain({ protocol, search, hash, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && !search && !hash && !username && !password
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

function readOrigin(text: unknown, name: string, allowInsecureRequests: boolean): (url: URL) => boolean {
  if (text === undefined || text === null || text === '') {
    throw configurationError(
      `${name} is ${text === '' ? 'empty' : text}. Set the environment variable that it comes from, ` +
        'or pass a function of the URL, which is called for each request.',
    )
  }
  // oxlint-disable-next-line typescript/no-base-to-string -- an untyped program may pass anything
  const origin = String(text)
  const wildcard = /^(https?:\/\/)\*\.(.+)$/i.exec(origin)
  const parsed = wildcard ? wildcard[1]! + wildcard[2]! : origin
  const url = URL.canParse(parsed) ? new URL(parsed) : undefined
  if (!url || !isPlain(url) || url.pathname !== '/' || url.hostname.includes('*')) {
    // One with a user name may contain a password.
    const shown = origin.includes('@') ? '' : ` "${origin.replace(/[?#].*/s, '').slice(0, 200)}"`
    const example =
      url && url.origin !== 'null' && !wildcard
        ? `'${url.origin}', which is new URL(url).origin`
        : "such as 'https://api.example.com' or 'https://*.example.com'"
    throw configurationError(
      `${name}${shown} is not a valid origin. Set only scheme, host and port: ${example}.`,
    )
  }
  if (!isSecure(url, allowInsecureRequests)) {
    throw configurationError(
      `${name} must start with https://, because tokens are sent to it. ` +
        'Inside a trusted network, set allowInsecureRequests: true.',
    )
  }
  if (!wildcard) return (other) => other.origin === url.origin
  const domain = url.hostname.replace(/\.$/, '')
  if ((!domain.includes('.') && domain !== 'localhost') || sharedSecondLevel.test(domain)) {
    throw configurationError(`${name} would match domains of other owners. Use your own domain.`)
  }
  const suffix = `.${url.hostname}`
  return ({ protocol, port, hostname }) =>
    protocol === url.protocol && port === url.port && hostname.endsWith(suffix)
}
