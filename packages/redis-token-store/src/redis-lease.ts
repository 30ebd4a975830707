import type { TokenLease } from '@tokenwell/core'
import type { EntryKind, EntrySlot } from './entry-slot.ts'
import { writeHoldDocument } from './hold-document.ts'
import { readTime, type RunScript } from './redis-script.ts'
import { writeTokenDocument } from './token-document.ts'
import { extendScript, keepScript, leaseScript } from './token-scripts.ts'

/** Takes the lease of a slot, if nobody has it. The fencing value tells this holder from a later one. */
export async function takeLease(
  run: RunScript,
  slot: EntrySlot,
  ttlMs: number,
): Promise<TokenLease | undefined> {
  const { keys } = slot
  const fence = crypto.randomUUID()
  const reply = await run(leaseScript, [keys.lease], [fence, Math.ceil(ttlMs)])
  if (reply === null || reply === undefined) return undefined
  // By Redis's clock: other machines' need not agree with this one's.
  const leasedAt = readTime(reply)
  const answered = performance.now()

  async function keep(kind: EntryKind, text: string, endsAt: number, superseded: string[]) {
    const id = crypto.randomUUID()
    const entry = await slot.seal(kind, { id, endsAt, text })
    const kept = await run(
      keepScript,
      [keys.lease, keys[kind], ...superseded],
      [fence, entry, leasedAt, endsAt],
    )
    return Number(kept) === 1 ? id : undefined
  }

  return {
    write: (response, lifetimeMs) =>
      keep('token', writeTokenDocument(response), leasedAt + Math.floor(lifetimeMs), [keys.hold]),
    async writeCooldown(error, ms) {
      const sinceMs = performance.now() - answered
      await keep('hold', writeHoldDocument(error), leasedAt + Math.floor(sinceMs + ms), [])
    },
    extend: async (ms) => Number(await run(extendScript, [keys.lease], [fence, Math.ceil(ms)])) === 1,
    async release() {
      await run(extendScript, [keys.lease], [fence, 0])
    },
  }
}
