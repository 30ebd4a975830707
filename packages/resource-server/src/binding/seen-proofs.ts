import type { Clock } from '@tokenwell/core'

/**
 * Remembers proofs while they could be accepted again. Forgets none before: when it is full, a new proof is not
 * accepted, because an old one could be replayed otherwise.
 */
export function createSeenProofs(
  maxProofs: number,
  clock: Clock,
): (id: string, until: Date) => boolean | 'full' {
  // In the order in which they came, which is nearly that in which they expire.
  const seen = new Map<string, number>()
  return (id, until) => {
    const now = clock.now()
    for (const [known, expiresAt] of seen) {
      if (expiresAt > now) break
      seen.delete(known)
    }
    if (seen.has(id)) return false
    if (seen.size >= maxProofs) return 'full'
    seen.set(id, until.getTime())
    return true
  }
}
