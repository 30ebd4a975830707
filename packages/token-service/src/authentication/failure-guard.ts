import type { Clock } from '../platform/clock.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import type { FailureStorage } from '../storage/storage.ts'
import { networkAddress } from './network-address.ts'

export interface FailureLimit {
  /** How many attempts may fail before the next one is rejected. */
  readonly attempts: number
  readonly windowSeconds: number
}

/** Limits failed attempts by address and client; never by client alone, because then anybody could lock it out. */
export interface FailureGuard {
  /** Throws `too_many_failures` while the limit is reached. */
  check(address: string, clientId: string): Promise<void>
  failed(address: string, clientId: string): Promise<void>
}

export function createFailureGuard(storage: FailureStorage, clock: Clock, limit: FailureLimit): FailureGuard {
  const keyOf = (address: string, clientId: string) => `${networkAddress(address)} ${clientId}`
  return {
    async check(address, clientId) {
      const nowMs = clock.now()
      const failures = await storage.find(keyOf(address, clientId), nowMs)
      if (!failures || failures.count < limit.attempts) return
      const retryAfterSeconds = Math.ceil((failures.resetsAtMs - nowMs) / 1000)
      throw new ProtocolError('too_many_failures', { retryAfterSeconds })
    },
    failed: (address, clientId) =>
      storage.add(keyOf(address, clientId), clock.now(), limit.windowSeconds * 1000),
  }
}
