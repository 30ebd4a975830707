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
