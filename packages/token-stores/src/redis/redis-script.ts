import { createHash } from 'node:crypto'
import type { ScriptSender } from './redis-client.ts'
import { errorReply, failedCommand, storeError } from './store-error.ts'

/** How long a new client may take to connect: as long as Redis may take for a reply. */
const connectMs = 200
const pollMs = 5

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
 * Sends the source of each script once, and its digest from then on: an operation is one round trip, unless Redis does
 * not know the script, as after its restart or on another node of a cluster. Fails at once while the client is not
 * connected, except soon after it was created. A command that some clients queue nevertheless does no harm later: the token provider releases leases that
 * are granted too late, and Redis ignores what other commands write or remove too late.
 */
export function createScriptRunner(sender: ScriptSender): RunScript {
  const { isReady, isConnecting, wake, sendSource, sendSha1 } = sender
  let connectedUntil = performance.now() + connectMs

  /** Short programs get their token before the client has connected, if nothing waits for it. */
  async function connected(): Promise<void> {
    if (wake()) connectedUntil = performance.now() + connectMs
    while (!isReady()) {
      if (!isConnecting() || performance.now() > connectedUntil)
        throw storeError('not_connected', 'Redis is not connected')
      await new Promise((resolve) => setTimeout(resolve, pollMs))
    }
  }

  /** Scripts whose source was sent: commands behind it find them on the same connection. */
  const sent = new Set<RedisScript>()
  return async (script, keys, args = []) => {
    if (!isReady()) await connected()
    const texts = args.map(String)
    const sendFirst = () => {
      sent.add(script)
      return sendSource(script.lua, keys, texts)
    }
    try {
      if (!sent.has(script)) return await sendFirst()
      return await sendSha1(script.sha1, keys, texts).catch((error: unknown) => {
        if (!errorReply(error)?.startsWith('NOSCRIPT')) throw error
        return sendFirst()
      })
    } catch (error) {
      throw failedCommand(error)
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
  if (reply === null) return undefined
  return typeof reply === 'string' ? reply : reply instanceof Uint8Array ? Buffer.from(reply).toString() : ''
}
