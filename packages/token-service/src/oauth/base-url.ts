import type { Socket } from 'node:net'
import { ProtocolError } from './protocol-error.ts'

/** Where a request was sent to. */
export interface RequestAddress {
  readonly socket: Pick<Socket, 'localAddress' | 'localPort'>
  readonly host: string
  readonly protocol: string
}

/**
 * The URL that clients use: as configured, or the address that the request was sent to. Without configuration a `Host`
 * header is used only if it names that address or loopback, so that nobody can make links point elsewhere.
 */
export function baseUrl(request: RequestAddress, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const { localAddress = '127.0.0.1', localPort } = request.socket
  const ip = localAddress.replace(/^::ffff:/i, '')
  const own = `${ip.includes(':') ? `[${ip}]` : ip}:${localPort}`
  const host = isLoopback(request.host) || request.host === own ? request.host : own
  const url = `${request.protocol}://${host}`
  if (!URL.canParse(url)) throw new ProtocolError('malformed_request')
  return url
}

export function isLoopback(host: string): boolean {
  return /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?$/i.test(host)
}

export const portalRoot = '/portal'

/** What is printed or sent to people outside the portal: paths under the service's URL. */
export const portalLinks = {
  join: (token: string) => `${portalRoot}/join/${token}`,
  newPassword: (token: string) => `${portalRoot}/password/${token}`,
}
