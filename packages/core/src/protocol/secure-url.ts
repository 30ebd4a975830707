import { configurationError } from './token-error.ts'

/**
 * Parses the URL of a server: HTTPS (RFC 6749, section 3.2) unless the host is loopback or `allowInsecureRequests` is set; no
 * user name, password or fragment.
 */
export function secureUrl(option: string, value: string | URL, allowInsecureRequests = false): URL {
  const url = URL.canParse(String(value)) ? new URL(value) : undefined
  // Without a scheme, `localhost:8080` parses as a URL with the scheme `localhost:`.
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw configurationError(
      `${option} is not a valid URL. Include the scheme, as in https://auth.example.com.`,
    )
  }
  if (url.username || url.password || url.hash) {
    throw configurationError(`${option} must not contain a user name, password or fragment.`)
  }
  if (!isSecure(url, allowInsecureRequests)) {
    throw configurationError(
      `${option} must start with https://. Inside a trusted network, set allowInsecureRequests: true.`,
    )
  }
  return url
}

/**
 * Parses a URL that the metadata of an issuer names, as `secureUrl` does. The metadata service of a cloud, and what listens on
 * this machine, is only for issuers that are there themselves.
 */
export function metadataUrl(
  option: string,
  value: unknown,
  issuer: string | URL,
  allowInsecureRequests = false,
): URL {
  const url = secureUrl(option, String(value), allowInsecureRequests)
  if (isOwnMachine(url) && !isOwnMachine(new URL(issuer))) {
    throw configurationError(`${option} of the issuer "${String(issuer)}" is an address of this machine.`)
  }
  return url
}

/** Whether a secret or a token may be sent to this URL's host over its protocol. */
export function isSecure(url: URL, allowInsecureRequests: boolean): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && (allowInsecureRequests || isLoopback(url)))
}

/** More levels of encoding than any program uses. */
const maxDecodings = 8

/**
 * A path as the server reads it that decodes most: repeatedly, `%u002e` too, and with similar characters taken for ASCII.
 * Undefined if that does not end. For authors of proxies and adapters.
 */
export function decodePath(pathname: string): string | undefined {
  let text = pathname
  for (let count = 0, before; text !== before; count++) {
    if (count > maxDecodings) return undefined
    before = text
    text = text
      .replace(/(?:%[\da-f]{2})+/gi, (bytes) => {
        const codes = bytes.slice(1).split('%')
        return new TextDecoder().decode(Uint8Array.from(codes, (code) => Number.parseInt(code, 16)))
      })
      .replace(/%u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .normalize('NFKC')
  }
  return text
}

/**
 * Whether a server could read a part of a {@link decodePath | decoded} path as `..`. The URL parser has resolved each that it
 * recognises. Other servers decode `%2f` first; they ignore spaces, and what follows `;`, `?` or `#`. For authors of proxies and
 * adapters.
 */
export function hasDotSegment(decodedPath: string): boolean {
  return decodedPath
    .split(/[/\\¥₩⁄∕∖⧵⧸]/)
    .map((segment) => segment.replace(/[;?#].*$/s, ''))
    .some((segment) => /^\.\.+$/.test(segment.replace(/[\p{C}\p{Z}+]/gu, '')))
}

/** Plain paths, which need no decoding. */
const plainPath = /^[\w/.:@~-]*$/

function staysBelow(pathname: string): boolean {
  if (plainPath.test(pathname) && !pathname.includes('..')) return true
  const decoded = decodePath(pathname)
  return decoded !== undefined && !hasDotSegment(decoded)
}

/**
 * Whether a URL is that of a resource, or below it: `/a/mcp/tools` is below `/a/mcp`, and `/a/mcp2` is not. Nor is a path that
 * another server could resolve to one outside, such as `/a/mcp/..%2fadmin`.
 */
export function covers(resource: URL, { origin, pathname, search }: URL): boolean {
  const folder = resource.pathname.replace(/\/?$/, '/')
  return (
    origin === resource.origin &&
    (pathname === resource.pathname || (pathname.startsWith(folder) && staysBelow(pathname))) &&
    (resource.search === '' || search === resource.search)
  )
}

// The URL parser has already converted every notation of an IPv4 address to the dotted one.
function isLoopback({ hostname }: URL): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

/** Loopback and link-local addresses, and what connects to them: the unspecified address, and IPv4 as IPv6. */
function isOwnMachine(url: URL): boolean {
  const { hostname } = url
  return (
    isLoopback(url) ||
    /^(?:localhost|.+\.localhost)\.$/.test(hostname) ||
    /^(?:0|169\.254)\.\d/.test(hostname) ||
    /^\[(?:::|fe[89ab][\da-f]:.*|::ffff:(?:0|7f[\da-f]{2}|a9fe):[\da-f]+)\]$/.test(hostname)
  )
}
