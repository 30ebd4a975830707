import { formatDuration } from './durations.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { Probe, ProbeFailure } from './probe.ts'

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
