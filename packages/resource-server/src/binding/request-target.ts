/** Whether a proof's `htu` is the request's URL without query and fragment, both normalized (RFC 9449, section 4.3). */
export function sameTarget(htu: unknown, url: string, publicUrl: string | URL | undefined): boolean {
  const expected = normalize(publicUrl === undefined ? url : atPublicUrl(url, publicUrl))
  return typeof htu === 'string' && expected !== undefined && normalize(htu) === expected
}

function atPublicUrl(url: string, publicUrl: string | URL): string {
  const { origin, pathname } = new URL(publicUrl)
  const path = url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '')
  return `${origin}${pathname.replace(/\/+$/, '')}${path}`
}

/** RFC 3986, section 6.2: the URL parser does all but percent-encoding. */
function normalize(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname.replaceAll(/%[\da-f]{2}/gi, normalizeOctet)}`
}

function normalizeOctet(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : octet.toUpperCase()
}
