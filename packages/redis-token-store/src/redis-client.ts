interface ScriptOptions {
  keys: string[]
  arguments: string[]
}

/** The commands that the store uses. */
interface ScriptCommands {
  eval(script: string, options: ScriptOptions): Promise<unknown>
  evalSha(sha1: string, options: ScriptOptions): Promise<unknown>
}

/**
 * The part of a client of the `redis` package, version 5 or 6, that the store uses: `createClient()`,
 * `createClientPool()`, `createCluster()` and `createSentinel()` return one.
 */
export interface RedisTokenStoreClient {
  readonly isOpen: boolean
  /** Missing in a pool and in a cluster client of `redis` 5, which count as ready while open. */
  readonly isReady?: boolean
  withCommandOptions(options: { abortSignal: AbortSignal }): ScriptCommands
}

/** A failure of the store. Its code, such as `READONLY`, appears in events. */
export function storeError(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code })
}
