/** Whether a token may be sent to a URL: over HTTPS, to this machine, or where plain HTTP is allowed. */
export function isSecureUrl({ protocol, hostname }: URL, allowInsecure = false): boolean {
  if (protocol === 'https:') return true
  const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'http:' && (allowInsecure || loopback)
}
