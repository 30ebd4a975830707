import { connect as connectPlain, isIP, type Socket } from 'node:net'
import { connect as connectTls, type Certificate, type PeerCertificate, type TLSSocket } from 'node:tls'
import { secureUrl } from '@tokenwell/core/protocol'
import { findingsOf, formatDuration, type Finding } from './finding.ts'

const network = findingsOf('network')

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

/** Whether a secret or a token may be sent to a URL: over HTTPS, to this machine, or where plain HTTP is allowed. */
export function isSecure(url: URL, allowInsecureRequests = false): boolean {
  try {
    return secureUrl('', url, allowInsecureRequests) !== undefined
  } catch {
    return false
  }
}

/** The port that a request to this URL is sent to. */
function portOf({ protocol, port }: URL): number {
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
  if (code === 'bad port') {
    return network.problem(
      'port_blocked',
      `Programs that use fetch send no requests to the port of ${host} (bad port).`,
      'Let the service listen on another port: browsers and Node block those of other protocols (Fetch standard, port blocking).',
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

const certificate = findingsOf('certificate')
const soonMs = 14 * 86_400_000
const nothingSent = 'No request was sent.'

/** Undefined for plain HTTP. */
export function checkCertificate({ tls, tlsMs = 0, failure }: Probe, url: URL): Finding | undefined {
  if (failure?.stage === 'tls') return explainHandshake(failure.code, url)
  if (!tls) return undefined
  if (tls.authorizationError !== undefined) return explainUntrusted(tls, url)
  const leftMs = Date.parse(tls.certificate.valid_to) - Date.now()
  const facts = `${tls.protocol} handshake in ${formatDuration(tlsMs)}; the certificate expires in ${formatDuration(leftMs)}`
  if (leftMs > soonMs) return certificate.ok('trusted', `${facts}.`)
  return certificate.warning(
    'certificate_expires_soon',
    `${facts} (${tls.certificate.valid_to}).`,
    'Renew it before then, or all clients will fail at the same time.',
  )
}

function explainHandshake(code: string, url: URL): Finding {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|EPROTO/.test(code)) {
    return certificate.problem(
      'not_tls',
      `The server at ${url.host} does not speak TLS (${code}).`,
      'Check the port, and whether the server expects http://.',
    )
  }
  return certificate.problem(
    'tls_failed',
    `The TLS handshake with ${url.host} failed (${code}). ${nothingSent}`,
    'The server may require an old protocol version, a client certificate, or another host name.',
  )
}

function explainUntrusted({ authorizationError, certificate: shown }: TlsFacts, url: URL): Finding {
  const { subject, issuer, valid_from: from, valid_to: to } = shown
  switch (authorizationError) {
    case 'CERT_HAS_EXPIRED':
      return certificate.problem(
        'certificate_expired',
        `The certificate expired on ${to}. ${nothingSent}`,
        "Renew it. If that date is in the future, set this machine's clock.",
      )
    case 'CERT_NOT_YET_VALID':
      return certificate.problem(
        'certificate_not_yet_valid',
        `The certificate is not valid before ${from}. ${nothingSent}`,
        "Check this machine's clock. If it is right, the service needs a certificate that is valid now.",
      )
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return certificate.problem(
        'certificate_wrong_host',
        `The certificate is for ${shown.subjectaltname ?? nameOf(subject)}, not for ${url.hostname}. ${nothingSent}`,
        'Use a host name that the certificate covers, or configure the service for this one.',
      )
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return certificate.problem(
        'certificate_self_signed',
        `The certificate was issued by ${nameOf(issuer)}, whose own certificate is self-signed and not trusted. ${nothingSent}`,
        'If that authority is yours, trust it with NODE_EXTRA_CA_CERTS=authority.pem. Never disable certificate verification.',
      )
    default:
      return certificate.problem(
        'certificate_untrusted',
        `The certificate issued by ${nameOf(issuer)} is not trusted (${authorizationError}). ${nothingSent}`,
        "The server may have omitted an intermediate certificate. To trust a company's own authority, set NODE_EXTRA_CA_CERTS.",
      )
  }
}

function nameOf(holder: Certificate | undefined): string {
  return [holder?.O ?? holder?.CN ?? 'an unnamed authority'].flat().join(', ')
}

/** Since Node 22.21 and 24.5. */
const nodeReadsProxies = process.allowedNodeEnvironmentFlags.has('--use-env-proxy')
/** For `example.com` in `NO_PROXY`; before, only for `.example.com` and `*.example.com`. */
const nodeExemptsSubdomains =
  (process.versions['undici'] ?? '').localeCompare('7.22', 'en', { numeric: true }) >= 0

export interface CheckedProxy {
  /** The variable with the proxy that is used. */
  readonly used?: string | undefined
  readonly finding?: Finding
}

/** Reports a proxy that the environment names: Node uses it only when told to. */
export function checkProxy(url: URL, env: NodeJS.ProcessEnv): CheckedProxy {
  const name = proxyVariable(url, env)
  if (name === undefined || isExempt(url, env['no_proxy'] ?? env['NO_PROXY'])) {
    return {}
  }
  const isEnabled = env['NODE_USE_ENV_PROXY'] === '1' || /--use-env-proxy/.test(env['NODE_OPTIONS'] ?? '')
  if (isEnabled && nodeReadsProxies) {
    return {
      used: name,
      finding: network.note(
        'through_proxy',
        `Requests use the proxy set in ${name}. The network and the certificate were not checked separately.`,
      ),
    }
  }
  return {
    finding: network.note(
      'proxy_ignored',
      `${name} is set, but Node does not use it.`,
      `If this machine can reach the service only through the proxy, ${nodeReadsProxies ? '' : 'install Node 24, and '}set NODE_USE_ENV_PROXY=1.`,
    ),
  }
}

/** Node prefers lower case, even if it is empty, and falls back to the proxy for HTTP. */
function proxyVariable({ protocol }: URL, env: NodeJS.ProcessEnv): string | undefined {
  const schemes = protocol === 'https:' ? ['https_proxy', 'http_proxy'] : ['http_proxy']
  return schemes
    .map((name) => (env[name] === undefined ? name.toUpperCase() : name))
    .find((name) => env[name])
}

/** As Node reads it: `host:port` applies to that port alone. */
function isExempt(url: URL, list = ''): boolean {
  if (list === '*') return true
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      const [, name = '', port = portOf(url)] = /^(.*?)(?::(\d+))?$/.exec(entry)!
      return Number(port) === portOf(url) && includes(name, url.hostname)
    })
}

function includes(name: string, hostname: string): boolean {
  if (nodeExemptsSubdomains) return `.${hostname}`.endsWith(`.${name.replace(/^\*?\./, '')}`)
  return /^[.*]/.test(name) ? hostname.endsWith(name.replace('*', '')) : hostname === name
}
