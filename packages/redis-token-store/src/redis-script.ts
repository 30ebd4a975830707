import { createHash } from 'node:crypto'
import { storeError, type RedisTokenStoreClient } from './redis-client.ts'

/** A Lua script; Redis runs it as one step. */
export interface RedisScript {
  readonly lua: string
  readonly sha1: string
}

export function redisScript(lua: string): RedisScript {
  return { lua, sha1: createHash('sha1').update(lua).digest('hex') }
}

export type RunScript = (script: RedisScript, keys: string[], args?: (string | number)[]) => Promise<unknown>

/**
 * Nobody waits for an answer that long: a command that has not left by then is dropped. Not shorter, lest a process
 * that stood still drops what would leave at once.
 */
const longestQueueMs = 1_000

/**
 * Runs scripts by their digest, and sends the text only to a server that does not know it yet. While the
 * client is not connected it fails at once: the client's offline queue would send the commands later, to nobody's use.
 */
export function createScriptRunner(client: RedisTokenStoreClient): RunScript {
  return async ({ lua, sha1 }, keys, args = []) => {
    if (!(client.isReady ?? client.isOpen)) throw storeError('not_connected', 'Redis is not connected')
    const abortSignal = AbortSignal.timeout(longestQueueMs)
    const commands = client.withCommandOptions({ abortSignal })
    const options = { keys, arguments: args.map(String) }
    try {
      return await commands.evalSha(sha1, options).catch((error: unknown) => {
        if (replyCode(error) !== 'NOSCRIPT') throw error
        return commands.eval(lua, options)
      })
    } catch (error) {
      const code = abortSignal.aborted ? 'slow' : (replyCode(error) ?? 'failed')
      throw storeError(code, 'Redis did not do what it was asked', error)
    }
  }
}

/** The first word of an error reply, such as `READONLY` or `OOM`; of other errors their own code. */
function replyCode(error: unknown): string | undefined {
  const { code, message, constructor } = (error ?? {}) as {
    code?: unknown
    message?: unknown
    constructor?: { name?: string }
  }
  if (typeof code === 'string') return code
  return /^[A-Z]{2,30}(?= )/.exec(String(message))?.[0] ?? constructor?.name
}

/** The time that a script answered with, in milliseconds since 1970 by Redis's clock. */
export function readTime(reply: unknown): number {
  const time = Number(reply)
  if (time > 0) return time
  throw storeError('bad_reply', 'Redis gave an answer that is not the script’s')
}

/** A value that a script answered with; '' for one of no use. Clients may be set to give bytes instead of text. */
export function readText(reply: unknown): string | undefined {
  if (reply === null || reply === undefined) return undefined
  return typeof reply === 'string' ? reply : reply instanceof Uint8Array ? Buffer.from(reply).toString() : ''
}
