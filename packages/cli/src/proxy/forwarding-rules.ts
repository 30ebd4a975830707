import { decodePath, hasDotSegment } from '@tokenwell/core/protocol'

/** They concern one connection (RFC 9110, section 7.6.1), or the way a body is sent on it, which each side decides. */
const perConnection = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authentication-info',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export type HeaderField = readonly [name: string, value: string]

/** Names and values of a message, as Node lists them; names in lower case. A repeated field stays repeated. */
export function headerFields(rawHeaders: readonly string[]): HeaderField[] {
  return rawHeaders.flatMap((name, index): HeaderField[] =>
    index % 2 === 0 ? [[name.toLowerCase(), rawHeaders[index + 1]!]] : [],
  )
}

/** What the next connection gets of a message's header. */
export function forwardedFields(rawHeaders: readonly string[]): HeaderField[] {
  const fields = headerFields(rawHeaders)
  const listed = fields.flatMap(([name, value]) => (name === 'connection' ? value.split(',') : []))
  const own = new Set(listed.map((name) => name.trim().toLowerCase()))
  return fields.filter(([name]) => !perConnection.has(name) && !own.has(name))
}

/**
 * The path and query that correspond to `rest` below the target. Undefined for a path outside of it, and for one that
 * another server could resolve to a path outside, such as `/..%2fadmin` and `/..;/admin`.
 */
export function pathBelow(target: URL, rest: string): string | undefined {
  const [, path = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(rest) ?? []
  const prefix = prefixOf(target)
  const url = target.origin + prefix + path
  if (!URL.canParse(url)) return undefined
  const { origin, pathname } = new URL(url)
  if (origin !== target.origin || pathAfter(prefix, pathname) === undefined) return undefined
  return isAmbiguous(pathname) ? undefined : pathname + query
}

/** Below the target, a redirect leads through the proxy again; its query stays as it is. */
export function locationThroughProxy(
  location: string,
  path: string,
  { target, base }: { readonly target: URL; readonly base: string },
): string {
  // Node reads the bytes of a header as Latin-1.
  const text = Buffer.from(location, 'latin1').toString()
  const requested = target.origin + path
  if (!URL.canParse(text, requested)) return location
  const { origin, pathname } = new URL(text, requested)
  const [queryAndFragment = ''] = /[?#].*$/s.exec(location) ?? []
  const below = origin === target.origin ? pathAfter(prefixOf(target), pathname) : undefined
  if (below !== undefined) return base + below + queryAndFragment
  return URL.canParse(text) ? location : origin + pathname + queryAndFragment
}

/** Without a slash at its end. */
function prefixOf({ pathname }: URL): string {
  return pathname.replace(/\/$/, '')
}

function pathAfter(prefix: string, pathname: string): string | undefined {
  if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return undefined
  return pathname.slice(prefix.length)
}

/**
 * Whether a server could read a part of the path as `..`, or the path in another way than the API: servers differ in how they
 * read control characters and invalid UTF-8.
 */
function isAmbiguous(pathname: string): boolean {
  const text = decodePath(pathname)
  // oxlint-disable-next-line no-control-regex -- it looks for them
  return text === undefined || /[\0-\x1F\x7F\uFFFD]/.test(text) || hasDotSegment(text)
}
