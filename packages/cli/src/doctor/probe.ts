import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls'

/** How far a connection got before a request was sent. Each time is in milliseconds, for its own part. */
export interface Probe {
  readonly addresses: readonly string[]
  readonly lookupMs?: number
  readonly connectMs?: number
  readonly tlsMs?: number
  readonly tls?: TlsFacts
  readonly failure?: ProbeFailure
}

export interface ProbeFailure {
  readonly stage: 'name' | 'connection' | 'tls'
  /** Such as `ECONNREFUSED`; `TIMEOUT` when the limit was reached. */
  readonly code: string
}

export interface TlsFacts {
  readonly protocol: string
  /** Why the certificate is not trusted: a code of OpenSSL or Node. */
  readonly authorizationError?: string | undefined
  readonly certificate: PeerCertificate
}

/** Connects up to the TLS handshake and reads the certificate, trusted or not: no secret is sent, so none is at risk. */
export function probe(url: URL, limitMs: number): Promise<Probe> {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const secure = url.protocol === 'https:'
  const target = { host, port: portOf(url) }
  const found: { -readonly [Fact in keyof Probe]: Probe[Fact] } & { addresses: string[] } = { addresses: [] }

  return new Promise((resolve) => {
    let since = performance.now()
    const lap = (): number => {
      const now = performance.now()
      const ms = now - since
      since = now
      return ms
    }
    const socket: Socket = secure
      ? connectTls({
          ...target,
          rejectUnauthorized: false,
          ...(isIP(host) ? {} : { servername: host }),
          ALPNProtocols: ['http/1.1'],
        })
      : connectPlain(target)
    const end = (failure?: ProbeFailure): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ ...found, ...(failure && { failure }) })
    }
    const fail = (code: string): void => end({ stage: stageOf(found, code, host), code })
    const timer = setTimeout(() => fail('TIMEOUT'), limitMs)

    socket.on('lookup', (error: Error | null, address: string) => {
      found.lookupMs ??= lap()
      if (!error) found.addresses.push(address)
    })
    socket.once('connect', () => {
      found.connectMs = lap()
      if (!secure) end()
    })
    socket.once('secureConnect', () => {
      found.tlsMs = lap()
      found.tls = readTls(socket as TLSSocket)
      end()
    })
    socket.on('error', (error: NodeJS.ErrnoException) => fail(error.code ?? 'UNKNOWN'))
    socket.once('close', () => fail('CLOSED'))
  })
}

/** The port that a request to this URL is sent to. */
export function portOf({ protocol, port }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}

function stageOf(found: Probe, code: string, host: string): ProbeFailure['stage'] {
  if (found.connectMs !== undefined) return 'tls'
  const lookingUp = found.addresses.length === 0 && isIP(host) === 0
  return /^(?:ENOTFOUND|EAI_)/.test(code) || (code === 'TIMEOUT' && lookingUp) ? 'name' : 'connection'
}

function readTls(socket: TLSSocket): TlsFacts {
  const { authorized, authorizationError } = socket
  return {
    protocol: socket.getProtocol() ?? 'TLS',
    // A code at run time, although its type is Error.
    authorizationError: authorized ? undefined : String(authorizationError),
    certificate: socket.getPeerCertificate(),
  }
}
