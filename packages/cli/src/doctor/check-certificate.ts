import type { Certificate } from 'node:tls'
import { formatDuration } from './durations.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { Probe, TlsFacts } from './probe.ts'

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
      'Check the port. Plain HTTP is allowed only to this machine, or with --allow-insecure.',
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
