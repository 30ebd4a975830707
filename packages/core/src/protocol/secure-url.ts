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

/** Whether a secret or a token may be sent to this URL's host over its protocol. */
export function isSecure(url: URL, allowInsecureRequests: boolean): boolean {
  return url.protocol === 'https:' || (url.protocol === 'http:' && (allowInsecureRequests || isLoopback(url)))
}

/** Whether a URL is that of a resource, or below it: `/a/mcp/tools` is below `/a/mcp`, and `/a/mcp2` is not. */
export function covers(resource: URL, { origin, pathname, search }: URL): boolean {
  const folder = resource.pathname.replace(/\/?$/, '/')
  return (
    origin === resource.origin &&
    (pathname === resource.pathname || pathname.startsWith(folder)) &&
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
