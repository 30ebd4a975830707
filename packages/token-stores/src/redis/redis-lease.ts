import { setTimeout } from 'node:timers/promises'
import type { TokenLease } from '@tokenwell/core/store'
import type { Entry, EntryContents, EntryKind } from '../format/entry-format.ts'
import { readTime, type RunScript } from './redis-script.ts'
import { isLost } from './store-error.ts'
import { extendScript, writeScript, leaseScript } from './token-scripts.ts'

/** Pause between attempts to repeat a command whose reply was lost with the connection. */
const repeatMs = 100

/** Encodes an entry of the leased key. */
export type EncodeEntry = <Kind extends EntryKind>(kind: Kind, entry: Entry<Kind>) => string

/** Takes the lease, if it is free. The holder's ID distinguishes it from later holders. */
export async function takeLease(
  run: RunScript,
  redisKey: string,
  encode: EncodeEntry,
  slot: 'lease' | 'fallback',
  ttlMs: number,
): Promise<TokenLease | undefined> {
  const keys = [redisKey]
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

  async function writeEntry<Kind extends EntryKind>(
    kind: Kind,
    content: EntryContents[Kind],
    expiresAt: number,
  ) {
    const id = crypto.randomUUID()
    const entry = encode(kind, { id, expiresAt, content })
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
  if (reply === null) return undefined
  // By the clock of Redis, because the clocks of other machines may differ.
  const leasedAt = readTime(reply)
  const repliedAt = performance.now()

  return {
    write: (response, lifetimeMs) => writeEntry('token', response, leasedAt + Math.floor(lifetimeMs)),
    async writeCooldown(error, ms) {
      const sinceMs = performance.now() - repliedAt
      await writeEntry('cooldown', error, leasedAt + Math.floor(sinceMs + ms))
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
