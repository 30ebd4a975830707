import type { TokenLease } from '@tokenwell/core'
import type { EntryKind, CacheKeyEntries } from './cache-key-entries.ts'
import { writeCooldownDocument } from './cooldown-document.ts'
import { readTime, type RunScript } from './redis-script.ts'
import { writeTokenDocument } from './token-document.ts'
import { extendScript, writeScript, leaseScript } from './token-scripts.ts'

/** Takes the lease, if it is free. The holder's ID distinguishes it from later holders. */
export async function takeLease(
  run: RunScript,
  entries: CacheKeyEntries,
  ttlMs: number,
): Promise<TokenLease | undefined> {
  const { keys } = entries
  const holderId = crypto.randomUUID()
  const reply = await run(leaseScript, [keys.lease], [holderId, Math.ceil(ttlMs)])
  if (reply === null || reply === undefined) return undefined
  // By the clock of Redis, because the clocks of other machines may differ.
  const leasedAt = readTime(reply)
  const repliedAt = performance.now()

  async function writeEntry(kind: EntryKind, text: string, expiresAt: number, superseded: string[]) {
    const id = crypto.randomUUID()
    const entry = await entries.encode(kind, { id, expiresAt, text })
    const written = await run(
      writeScript,
      [keys.lease, keys[kind], ...superseded],
      [holderId, entry, leasedAt, expiresAt],
    )
    return Number(written) === 1 ? id : undefined
  }

  return {
    write: (response, lifetimeMs) =>
      writeEntry('token', writeTokenDocument(response), leasedAt + Math.floor(lifetimeMs), [keys.cooldown]),
    async writeCooldown(error, ms) {
      const sinceMs = performance.now() - repliedAt
      await writeEntry('cooldown', writeCooldownDocument(error), leasedAt + Math.floor(sinceMs + ms), [])
    },
    extend: async (ms) => Number(await run(extendScript, [keys.lease], [holderId, Math.ceil(ms)])) === 1,
    async release() {
      await run(extendScript, [keys.lease], [holderId, 0])
    },
  }
}
