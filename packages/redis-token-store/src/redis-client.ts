interface ScriptOptions {
  keys: string[]
  arguments: string[]
}

/** Those commands of a client that the store uses. */
interface ScriptCommands {
  eval(script: string, options: ScriptOptions): Promise<unknown>
  evalSha(sha1: string, options: ScriptOptions): Promise<unknown>
}

/**
 * What the store needs of a client of the `redis` package, 5 or 6: `createClient()`, `createClientPool()`,
 * `createCluster()` and `createSentinel()` all have it. The client stays its owner's to connect and to close.
 */
export interface RedisTokenStoreClient {
  readonly isOpen: boolean
  /** A cluster client of `redis` 5 and a pool have none: they count as ready while open. */
  readonly isReady?: boolean
  withCommandOptions(options: { abortSignal: AbortSignal }): ScriptCommands
}

/** The store's failures, with a code that an event can show: a reply's own, such as `READONLY`, or one of ours. */
export function storeError(code: string, message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code })
}
