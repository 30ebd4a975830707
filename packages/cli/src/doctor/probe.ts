import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, type PeerCertificate, type TLSSocket } from 'node:tls'
import { formatDuration } from './durations.ts'
import { findingsOf, type Finding } from './finding.ts'

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

const network = findingsOf('network')

export function checkNetwork({ addresses, lookupMs = 0, connectMs = 0, failure }: Probe, url: URL): Finding {
  if (failure && failure.stage !== 'tls') return explainUnreachable(failure, url)
  const to = addresses.length > 0 ? ` (${[...new Set(addresses)].join(', ')})` : ''
  return network.ok('connected', `Connected to ${url.host}${to} in ${formatDuration(lookupMs + connectMs)}.`)
}

/** Explains the error code of a failed connection. */
export function explainUnreachable({ stage, code }: ProbeFailure, { host, hostname }: URL): Finding {
  if (code === 'ENOTFOUND') {
    return network.problem(
      'name_not_found',
      `Could not resolve ${hostname} (ENOTFOUND).`,
      'Check the spelling. A host name inside your company may require its VPN or DNS server.',
    )
  }
  if (stage === 'name') {
    return network.problem(
      'name_lookup_failed',
      `The DNS server did not resolve ${hostname} (${code}).`,
      'Check the network and the DNS server of this machine or container.',
    )
  }
  if (code === 'ECONNREFUSED') {
    return network.problem(
      'connection_refused',
      `${host} refused the connection (ECONNREFUSED): no program is listening there, or a firewall rejects connections.`,
      'Check the host and the port, and whether the service is running.',
    )
  }
  if (code === 'TIMEOUT' || code === 'ETIMEDOUT') {
    return network.problem(
      'connection_timeout',
      `The connection to ${host} timed out (${code}).`,
      'A firewall is a common cause: check whether this machine is allowed to connect, or needs a proxy.',
    )
  }
  return network.problem(
    'unreachable',
    `Could not connect to ${host} (${code}).`,
    'Check the network, its routes and its firewalls.',
  )
}
