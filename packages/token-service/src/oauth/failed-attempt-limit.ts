import ipaddr from 'ipaddr.js'
import type { Clock } from '../runtime/clock.ts'
import { ProtocolError } from './protocol-error.ts'
import type { FailureCount, FailureStorage } from './failure-storage.ts'

export interface FailureLimit {
  /** How many attempts may fail before further failures are reported as `too_many_failures`. */
  readonly attempts: number
  readonly windowSeconds: number
}

/**
 * Limits failed attempts by address and client; never by client alone, because then anybody could lock it out.
 * A correct secret is never rejected: several clients may share one address.
 */
export interface FailedAttemptLimit {
  /** Counts a failed attempt, concurrent ones included. Throws `too_many_failures` beyond the limit. */
  failed(address: string, clientId: string): Promise<void>
  /** Throws `too_many_failures` while the limit is exceeded: for checks that are too expensive to repeat. */
  check(address: string, clientId: string): Promise<void>
}

export function createFailedAttemptLimit(
  storage: FailureStorage,
  clock: Clock,
  limit: FailureLimit,
): FailedAttemptLimit {
  const keyOf = (address: string, clientId: string) => `${networkAddress(address)} ${clientId}`
  const tooMany = ({ resetsAtMs }: FailureCount, nowMs: number) =>
    new ProtocolError('too_many_failures', { retryAfterSeconds: Math.ceil((resetsAtMs - nowMs) / 1000) })
  return {
    async failed(address, clientId) {
      const nowMs = clock.now()
      const failures = await storage.add(keyOf(address, clientId), nowMs, limit.windowSeconds * 1000)
      if (failures.count > limit.attempts) throw tooMany(failures, nowMs)
    },
    async check(address, clientId) {
      const nowMs = clock.now()
      const failures = await storage.find(keyOf(address, clientId), nowMs)
      if (failures && failures.count >= limit.attempts) throw tooMany(failures, nowMs)
    },
  }
}

/** The address under which failures are counted: for IPv6, its /64 network, because one host owns all of it. */
export function networkAddress(ip: string): string {
  return networks(ip)[0] ?? ip
}

/** For IPv6 also the larger networks that one customer of a provider may own: from /64 to /48. */
export function networks(ip: string): string[] {
  if (!ipaddr.isValid(ip)) return [ip]
  const address = ipaddr.process(ip)
  if (!(address instanceof ipaddr.IPv6)) return [address.toString()]
  delete address.zoneId
  return [64, 56, 48].map((bits) => {
    const network = ipaddr.IPv6.networkAddressFromCIDR(`${address.toString()}/${bits}`)
    return `${network.toString()}/${bits}`
  })
}
