import { duration } from './duration.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { Probe, ProbeFailure } from './probe.ts'

const network = findingsOf('network')

export function judgeNetwork({ addresses, lookupMs = 0, connectMs = 0, failure }: Probe, url: URL): Finding {
  if (failure && failure.stage !== 'tls') return explainUnreachable(failure, url)
  const to = addresses.length > 0 ? ` (${[...new Set(addresses)].join(', ')})` : ''
  return network.ok('connected', `${url.host}${to} is reached in ${duration(lookupMs + connectMs)}.`)
}

/** What stands behind the code of a failed connection. */
export function explainUnreachable({ stage, code }: ProbeFailure, { host, hostname }: URL): Finding {
  if (code === 'ENOTFOUND') {
    return network.problem(
      'name_not_found',
      `No address is known for ${hostname} (ENOTFOUND).`,
      'Check the spelling; a name inside your company needs its VPN or name server.',
    )
  }
  if (stage === 'name') {
    return network.problem(
      'name_lookup_failed',
      `The name server did not tell the address of ${hostname} (${code}).`,
      'Check the network and the name server of this machine or container.',
    )
  }
  if (code === 'ECONNREFUSED') {
    return network.problem(
      'connection_refused',
      `${host} refuses connections (ECONNREFUSED): nothing listens there.`,
      'Check host and port, and whether the service runs.',
    )
  }
  if (code === 'TIMEOUT' || code === 'ETIMEDOUT') {
    return network.problem(
      'connection_timeout',
      `${host} does not answer at all (${code}).`,
      'A firewall in between often does that: check that this machine may connect there, or needs a proxy.',
    )
  }
  return network.problem(
    'unreachable',
    `${host} cannot be reached (${code}).`,
    'Check the network, its routes and firewalls.',
  )
}
