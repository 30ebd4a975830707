import type { Clock } from '../runtime/clock.ts'
import { networks } from '../runtime/networks.ts'
import { ProtocolError } from './protocol-error.ts'
import type { FailureCount, FailureStorage } from './failure-storage.ts'

export interface FailureLimit {
  /** How many attempts from an address may fail before further failures are reported as `too_many_failures`. */
  readonly attempts: number
  readonly windowSeconds: number
}

/**
 * Limits failed attempts by network (the IPv4 address, the IPv6 /64, and the /48 above it) and client; never by client alone,
 * because then anybody could lock it out.
 * A correct secret is never rejected: several clients may share one address.
 */
export interface FailedAttemptLimit {
  /** Counts a failed attempt, concurrent ones included. Throws `too_many_failures` beyond the limit. */
  failed(address: string, clientId: string): Promise<void>
  /**
   * For checks that are too expensive to repeat: throws `too_many_failures` while the limit is exceeded, and otherwise returns how
   * many attempts have failed.
   */
  check(address: string, clientId: string): Promise<number>
}

export function createFailedAttemptLimit(
  storage: FailureStorage,
  clock: Clock,
  limit: FailureLimit,
): FailedAttemptLimit {
  /** Each key with how often it may fail: the larger network twice as often. */
  const limitsOf = (address: string, clientId: string) =>
    networks(address).map((network, at) => ({
      key: `${network} ${clientId}`,
      attempts: limit.attempts * (at + 1),
    }))
  const tooMany = ({ resetsAtMs }: FailureCount, nowMs: number) =>
    new ProtocolError('too_many_failures', { retryAfterSeconds: Math.ceil((resetsAtMs - nowMs) / 1000) })
  return {
    async failed(address, clientId) {
      const nowMs = clock.now()
      const counts = await Promise.all(
        limitsOf(address, clientId).map(async ({ key, attempts }) => {
          const failures = await storage.add(key, nowMs, limit.windowSeconds * 1000)
          return { failures, isTooMany: failures.count > attempts }
        }),
      )
      const exceeded = counts.find(({ isTooMany }) => isTooMany)
      if (exceeded) throw tooMany(exceeded.failures, nowMs)
    },
    async check(address, clientId) {
      const nowMs = clock.now()
      let most = 0
      for (const { key, attempts } of limitsOf(address, clientId)) {
        const failures = await storage.find(key, nowMs)
        if (failures && failures.count >= attempts) throw tooMany(failures, nowMs)
        most = Math.max(most, failures?.count ?? 0)
      }
      return most
    },
  }
}
