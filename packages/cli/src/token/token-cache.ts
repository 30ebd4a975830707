import type { TokenEvent } from '@tokenwell/core'
import { createFileTokenStore, defaultTokenFolder, type FileTokenStore } from '@tokenwell/file-token-store'
import type { CommandContext } from '../command-context.ts'
import { warn } from '../output.ts'

/** The tokens of earlier calls of the command, and a listener that reports problems with them. */
export interface TokenCache {
  readonly store: FileTokenStore
  readonly onEvent: (event: TokenEvent) => void
}

export function openTokenCache(context: CommandContext): TokenCache {
  let warned = false
  const warnOnce = (sentence: string): void => {
    if (!warned) warn(context, sentence)
    warned = true
  }
  const store = createFileTokenStore({
    folder: defaultTokenFolder(context.env),
    onEvent: ({ path }) => warnOnce(`The cached token in ${path} is damaged and is replaced.`),
  })
  return {
    store,
    onEvent(event) {
      if (event.type !== 'store_unavailable') return
      warnOnce(
        `The token cache ${store.folder} cannot be used (${event.cause}). ` +
          'Only you may have access to it. To use no cache, pass --no-cache.',
      )
    },
  }
}
