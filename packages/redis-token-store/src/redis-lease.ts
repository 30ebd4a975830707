import { setTimeout } from 'node:timers/promises'
import type { TokenLease } from '@tokenwell/core'
import type { EntryKind, CacheKeyEntries } from './cache-key-entries.ts'
import { writeCooldownDocument } from './cooldown-document.ts'
import { readTime, type RunScript } from './redis-script.ts'
import { isLost } from './store-error.ts'
import { writeTokenDocument } from './token-document.ts'
import { extendScript, writeScript, leaseScript } from './token-scripts.ts'

/** How often a command is repeated whose reply was lost with the connection. */
const repeatMs = 100

/** Takes the lease, if it is free. The holder's ID distinguishes it from later holders. */
export async function takeLease(
  run: RunScript,
  entries: CacheKeyEntries,
  slot: 'lease' | 'fallback',
  ttlMs: number,
): Promise<TokenLease | undefined> {
  const keys = [entries.redisKey]
  const holder = [slot, crypto.randomUUID()] as const
  let leaseEndsAt = performance.now() + ttlMs
  /** A write that did not reach Redis. */
  let unwritten: (() => Promise<unknown>) | undefined

  async function release(): Promise<void> {
    await unwritten?.()
    await run(extendScript, keys, [...holder, 0])
  }

  /** Completes the write and frees the lease once Redis is back: other processes would wait until the lease expires. */
  async function releaseLater(): Promise<void> {
    while (performance.now() < leaseEndsAt) {
      await setTimeout(repeatMs, undefined, { ref: false })
      try {
        return await release()
      } catch (error) {
        if (!isLost(error)) return
      }
    }
  }

  async function writeEntry(kind: EntryKind, text: string, expiresAt: number) {
    const id = crypto.randomUUID()
    const entry = await entries.encode(kind, { id, expiresAt, text })
    const write = async () =>
      Number(await run(writeScript, keys, [...holder, leasedAt, kind, entry, expiresAt]))
    unwritten = write
    const written = await write()
    unwritten = undefined
    return written === 1 ? id : undefined
  }

  const reply = await run(leaseScript, keys, [...holder, Math.ceil(ttlMs)]).catch((error: unknown) => {
    if (isLost(error)) void releaseLater()
    throw error
  })
  if (reply === null || reply === undefined) return undefined
  // By the clock of Redis, because the clocks of other machines may differ.
  const leasedAt = readTime(reply)
  const repliedAt = performance.now()

  return {
    write: (response, lifetimeMs) =>
      writeEntry('token', writeTokenDocument(response), leasedAt + Math.floor(lifetimeMs)),
    async writeCooldown(error, ms) {
      const sinceMs = performance.now() - repliedAt
      await writeEntry('cooldown', writeCooldownDocument(error), leasedAt + Math.floor(sinceMs + ms))
    },
    async extend(ms) {
      const isExtended = Number(await run(extendScript, keys, [...holder, Math.ceil(ms)])) === 1
      if (isExtended) leaseEndsAt = performance.now() + ms
      return isExtended
    },
    async release() {
      try {
        await release()
      } catch (error) {
        if (isLost(error)) void releaseLater()
        throw error
      }
    },
  }
}
