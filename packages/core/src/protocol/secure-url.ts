import { TokenError } from './token-error.ts'

/**
 * The error for invalid options; for authors of adapters and stores.
 *
 * @param message names the option, what is wrong with it, and how to fix it
 */
export function configurationError(message: string): TokenError {
  return new TokenError({ kind: 'configuration', message })
}

/**
 * Reads an address that secrets are sent to: HTTPS (RFC 6749, section 3.2) unless the host is literally
 * loopback or `allowInsecure`; no user name, password or fragment.
 */
export function secureUrl(option: string, value: string | URL, allowInsecure = false): URL {
  let url: URL
  try {
    url = new URL(value)
  } catch {
    throw configurationError(`${option} is not an absolute URL; write one such as https://auth.example.com`)
  }
  if (url.username || url.password || url.hash) {
    throw configurationError(`${option} must carry no user name, password or fragment`)
  }
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && (allowInsecure || isLoopback(url)))
  if (!secure) {
    throw configurationError(
      `${option} must begin with https://, because secrets travel to it; within your own network set allowInsecure: true`,
    )
  }
  return url
}

// The URL parser has already made every spelling of an IPv4 address the dotted one.
function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
