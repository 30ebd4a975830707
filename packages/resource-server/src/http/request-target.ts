/**
 * Whether a proof's `htu` is the URL of the request without query and fragment (RFC 9449, section 4.3). The path of the
 * request is compared as the router sees it: resolving its dot segments would let a proof for one path open another.
 */
export function sameTarget(htu: unknown, url: string, publicUrl: string | URL | undefined): boolean {
  const expected = targetOf(url, publicUrl)
  return typeof htu === 'string' && expected !== undefined && signedTarget(htu) === expected
}

/** Scheme and authority, if there are any, and the path. */
const parts = /^(?:([a-z][a-z\d+.-]*):\/\/([^/?#\\]*))?(\/[^?#]*)?(?:[?#].*)?$/is

function targetOf(url: string, publicUrl: string | URL | undefined): string | undefined {
  const [match, scheme, authority, path = '/'] = parts.exec(url) ?? []
  if (match === undefined) return undefined
  if (publicUrl !== undefined) {
    const { origin, pathname } = new URL(publicUrl)
    return `${origin}${normalizePath(pathname.replace(/\/+$/, '') + path)}`
  }
  const address = `${scheme}://${authority}`
  return scheme !== undefined && URL.canParse(address)
    ? `${new URL(address).origin}${normalizePath(path)}`
    : undefined
}

/** What the client signed may be resolved, as its HTTP client does: the key is its own. */
function signedTarget(htu: string): string | undefined {
  if (!URL.canParse(htu)) return undefined
  const { origin, pathname } = new URL(htu)
  return `${origin}${normalizePath(pathname)}`
}

/** RFC 3986, section 6.2.2, without the removal of dot segments. */
function normalizePath(path: string): string {
  return path.replaceAll(/%[\da-f]{2}|[^\w.~!$&'()*+,;=:@/%-]/gi, normalizeOctet)
}

function normalizeOctet(octet: string): string {
  if (octet.length === 1) return `%${octet.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : octet.toUpperCase()
}

/** `Host` names a host and a port, and nothing else (RFC 9110, section 7.2). */
const hostAndPort = /^(?:\[[\da-f:.]+\]|[\w.~%!$&'()*+,;=-]+)(?::\d*)?$/i
/** Origin-form or absolute-form (RFC 9112, section 3.2); routers disagree about fragments and backslashes. */
const requestTarget = /^(?:https?:\/\/([^/?#\\]*))?(\/[^?#\\]*(?:\?[^#]*)?)$/i

/** The URL of a request; undefined if its `Host` or its target is invalid. Without a host, only path and query. */
export function requestedUrl(protocol: string, host: string | undefined, target: string): string | undefined {
  const [match, named, path] = requestTarget.exec(target) ?? []
  if (match === undefined) return undefined
  // RFC 9112, section 3.2.2: an absolute target takes precedence over Host.
  const authority = named ?? host
  if (named === undefined && !host) return path
  return hostAndPort.test(authority!) && URL.canParse(`${protocol}://${authority}`)
    ? `${protocol}://${authority}${path}`
    : undefined
}
