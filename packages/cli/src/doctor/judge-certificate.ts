import type { Certificate } from 'node:tls'
import { duration } from './duration.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { Probe, TlsFacts } from './probe.ts'

const certificate = findingsOf('certificate')
const soonMs = 14 * 86_400_000
const nothingSent = 'Nothing was sent.'

/** Nothing for plain HTTP. */
export function judgeCertificate({ tls, tlsMs = 0, failure }: Probe, url: URL): Finding | undefined {
  if (failure?.stage === 'tls') return explainHandshake(failure.code, url)
  if (!tls) return undefined
  if (tls.distrust !== undefined) return explainDistrust(tls, url)
  const leftMs = Date.parse(tls.certificate.valid_to) - Date.now()
  const facts = `${tls.protocol} in ${duration(tlsMs)}; the certificate is valid for ${duration(leftMs)} more`
  if (leftMs > soonMs) return certificate.ok('trusted', `${facts}.`)
  return certificate.warning(
    'certificate_expires_soon',
    `${facts}, until ${tls.certificate.valid_to}.`,
    'Have it renewed before all clients fail at once.',
  )
}

function explainHandshake(code: string, url: URL): Finding {
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|EPROTO/.test(code)) {
    return certificate.problem(
      'not_tls',
      `What answers at ${url.host} does not speak TLS (${code}).`,
      'Check the port; plain HTTP is for this machine alone, or wants --allow-insecure.',
    )
  }
  return certificate.problem(
    'tls_failed',
    `The TLS handshake with ${url.host} failed (${code}). ${nothingSent}`,
    'The server may want an old protocol, a client certificate, or another host name.',
  )
}

function explainDistrust({ distrust = '', certificate: shown }: TlsFacts, url: URL): Finding {
  const { subject, issuer, valid_from: from, valid_to: to } = shown
  switch (distrust) {
    case 'CERT_HAS_EXPIRED':
      return certificate.problem(
        'certificate_expired',
        `The certificate ended on ${to}. ${nothingSent}`,
        'Have it renewed; if that date is to come, set the clock of this machine.',
      )
    case 'CERT_NOT_YET_VALID':
      return certificate.problem(
        'certificate_not_yet_valid',
        `The certificate begins on ${from}. ${nothingSent}`,
        'Check the clock of this machine first.',
      )
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return certificate.problem(
        'certificate_of_another_name',
        `The certificate is for ${shown.subjectaltname ?? nameOf(subject)}, not for ${url.hostname}. ${nothingSent}`,
        'Use the name that it is for, or have the service configured for this one.',
      )
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
      return certificate.problem(
        'certificate_self_signed',
        `The certificate is self-signed, by ${nameOf(issuer)}. ${nothingSent}`,
        'If it is your own, tell Node of its authority: NODE_EXTRA_CA_CERTS=authority.pem. Never turn the check off.',
      )
    default:
      return certificate.problem(
        'certificate_untrusted',
        `The certificate of ${nameOf(issuer)} is not trusted (${distrust}). ${nothingSent}`,
        'The service may leave out an intermediate certificate; a company’s own authority goes into NODE_EXTRA_CA_CERTS.',
      )
  }
}

function nameOf(holder: Certificate | undefined): string {
  return [holder?.O ?? holder?.CN ?? 'nobody'].flat().join(', ')
}
