import type { Clock } from '@tokenwell/core'
import { tokenError } from '../rejection/token-error.ts'

/**
 * Remembers proofs for as long as they could be accepted again. When it is full, it rejects new proofs rather than
 * forget old ones, which could then be replayed.
 */
export function createSeenProofs(maxProofs: number, clock: Clock): (id: string, until: Date) => boolean {
  // In the order in which they came, which is nearly that in which they expire.
  const seen = new Map<string, number>()
  return (id, until) => {
    const now = clock.now()
    for (const [known, expiresAt] of seen) {
      if (expiresAt > now) break
      seen.delete(known)
    }
    if (seen.has(id)) return false
    if (seen.size >= maxProofs) {
      throw tokenError('unavailable', `dpop.maxProofs is reached: ${maxProofs} proofs are remembered.`)
    }
    seen.set(id, until.getTime())
    return true
  }
}
