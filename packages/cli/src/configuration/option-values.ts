import { InvalidArgumentError } from 'commander'
/** Undefined unless the text is an absolute URL over HTTP or HTTPS; `localhost:8080` parses, with the scheme `localhost:`. */
export function parseHttpUrl(text: string): URL | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined
  return url && /^https?:$/.test(url.protocol) ? url : undefined
}

/** Whether a token may be sent to a URL: over HTTPS, to this machine, or where plain HTTP is allowed. */
export function isSecureUrl({ protocol, hostname }: URL, allowInsecureRequests = false): boolean {
  if (protocol === 'https:') return true
  const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'http:' && (allowInsecureRequests || loopback)
}

/** Parses the value of an option. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}
