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
