import { createTokenProvider, type AccessToken, type TokenSource } from '@tokenwell/core'
import { type CommandContext, info } from '../output.ts'
import type { ConnectionFlags } from '../configuration/connection-options.ts'
import { openTokenCache } from './token-cache.ts'

export interface TokenRequestFlags extends ConnectionFlags {
  /** False with `--no-cache`. */
  readonly cache: boolean
}

/** Enough for the program that the token is passed to. */
const minimumValidityMs = 60_000

/** Returns the cached token, or requests one; reports each retry. */
export async function requestToken(
  source: TokenSource,
  flags: TokenRequestFlags,
  context: CommandContext,
): Promise<AccessToken> {
  const timeoutMs = flags.timeout * 1000
  const cache = flags.cache ? openTokenCache(context) : undefined
  const tokens = createTokenProvider(source, {
    store: cache?.store,
    timeoutMs,
    attemptTimeoutMs: timeoutMs,
    // The process ends before a refresh in the background could.
    refreshAheadMs: 0,
    onEvent: (event) => {
      cache?.onEvent(event)
      if (event.type !== 'token_failed' || event.retryInMs === undefined) return
      const status = event.status === undefined ? '' : ` (status ${event.status})`
      info(context, `The token request failed: ${event.kind}${status}. Retrying…`)
    },
  })
  try {
    return await tokens.getToken({ minimumValidityMs })
  } finally {
    await tokens.close()
  }
}
