import { createHash } from 'node:crypto'
import type { ScriptSender } from './redis-client.ts'
import { errorReply, failedCommand, storeError } from './store-error.ts'

/** A Lua script; Redis runs it atomically. */
export interface RedisScript {
  readonly lua: string
  readonly sha1: string
}

export function redisScript(lua: string): RedisScript {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}

export type RunScript = (script: RedisScript, keys: string[], args?: (string | number)[]) => Promise<unknown>

/**
 * Longest time that a command waits in the client's queue; no caller waits that long for the reply. A shorter time
 * would drop commands in a process that was suspended.
 */
const maxQueueMs = 1_000

/**
 * Sends the source of each script once, and its digest from then on: an operation is one round trip, unless Redis was
 * restarted. Fails at once while the client is not connected, because its offline queue would send the commands when
 * it is too late.
 */
export function createScriptRunner({ isReady, send }: ScriptSender): RunScript {
  /** Scripts that Redis has executed. */
  const known = new Set<RedisScript>()
  return async (script, keys, args = []) => {
    if (!isReady()) throw storeError('not_connected', 'Redis is not connected')
    const abortSignal = AbortSignal.timeout(maxQueueMs)
    const texts = args.map(String)
    const sendSource = () => send('source', script.lua, keys, texts, abortSignal)
    try {
      if (known.has(script)) {
        return await send('sha1', script.sha1, keys, texts, abortSignal).catch((error: unknown) => {
          if (!errorReply(error)?.startsWith('NOSCRIPT')) throw error
          known.clear()
          return sendSource()
        })
      }
      const reply = await sendSource()
      known.add(script)
      return reply
    } catch (error) {
      throw failedCommand(error, abortSignal.aborted)
    }
  }
}

/** Reads the time in a reply: milliseconds since 1970, by the clock of Redis. */
export function readTime(reply: unknown): number {
  const time = Number(reply)
  if (time > 0) return time
  throw storeError('bad_reply', 'Redis returned an unexpected reply')
}

/** Reads a value in a reply; '' for an invalid one. Clients can be configured to return bytes instead of text. */
export function readText(reply: unknown): string | undefined {
  if (reply === null || reply === undefined) return undefined
  return typeof reply === 'string' ? reply : reply instanceof Uint8Array ? Buffer.from(reply).toString() : ''
}
