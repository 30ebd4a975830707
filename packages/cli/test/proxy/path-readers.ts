type Step = (path: string) => string

const unescape: Step = (path) =>
  path.replace(/%([\da-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))

/** Each is what some server does to a path before, or while, it resolves `..`. */
const steps: readonly Step[] = [
  unescape,
  unescape,
  unescape,
  // IIS
  (path) =>
    path.replace(/%u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16))),
  // Overlong UTF-8, which old decoders accept
  (path) => path.replace(/\xC0(.)/gs, (_, low: string) => String.fromCharCode(low.charCodeAt(0) & 0x3f)),
  (path) =>
    path.replace(/\xC1(.)/gs, (_, low: string) => String.fromCharCode(0x40 | (low.charCodeAt(0) & 0x3f))),
  (path) => path.replace(/\xE0\x80(.)/gs, (_, low: string) => String.fromCharCode(low.charCodeAt(0) & 0x3f)),
  // A decoder that ignores what is not UTF-8
  (path) =>
    /^[\0-\xFF]*$/.test(path) ? Buffer.from(path, 'latin1').toString().replaceAll('\uFFFD', '') : path,
  (path) => path.normalize('NFKC'),
  (path) => path.replaceAll('\u2215', '/').replaceAll('\u20A9', '\\'),
  (path) => path.replaceAll('\\', '/'),
  // A C string
  (path) => path.replace(/\0.*$/s, ''),
  (path) => path.replace(/[?#].*$/s, ''),
  // Java's path parameters
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => path.replace(/[\0-\x20]/g, ''),
  (path) => path.replace(/\/+/g, '/'),
]

function resolve(path: string): string {
  const resolved: string[] = []
  for (const segment of path.split('/').slice(1)) {
    if (segment === '..') resolved.pop()
    else if (segment !== '.') resolved.push(segment)
  }
  return `/${resolved.join('/')}`
}

/** Whether a server that does any selection of the steps, in their order, arrives at a path outside of the prefix. */
export function canResolveOutside(url: string, prefix: string): boolean {
  let readings = new Set([url.replace(/\?.*$/s, '')])
  for (const step of steps) readings = new Set([...readings, ...[...readings].map(step)])
  return [...readings].some((reading) => {
    const path = resolve(reading)
    return path !== prefix && !path.startsWith(`${prefix}/`)
  })
}
