import { isTokenError, type TokenEvent } from '@tokenwell/core'
import {
  createFileTokenStore,
  defaultTokenFolder,
  type FileTokenStore,
  type FileTokenStoreOptions,
} from '@tokenwell/token-stores/file'
import { type CommandContext, warn } from '../output.ts'
import { UsageError } from '../command-errors.ts'

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
  const store = openStore(context, ({ path }) =>
    warnOnce(`The cached token in ${path} is damaged. It will be replaced.`),
  )
  return {
    store,
    onEvent(event) {
      if (event.type !== 'store_unavailable') return
      warnOnce(
        `The token cache ${store.folder} cannot be used (${event.cause}). ` +
          'Check that the folder is accessible only to you, or pass --no-cache.',
      )
    },
  }
}

/** @throws {UsageError} for an invalid `TOKEN_CACHE_KEY` */
function openStore({ env }: CommandContext, onEvent: FileTokenStoreOptions['onEvent']): FileTokenStore {
  // The first one encrypts, all decrypt: during a rotation, the old key follows the new one.
  const encryptionKeys = env['TOKEN_CACHE_KEY'] ? env['TOKEN_CACHE_KEY'].split(',') : undefined
  try {
    return createFileTokenStore({ folder: defaultTokenFolder(env), encryptionKeys, onEvent })
  } catch (error) {
    if (!isTokenError(error)) throw error
    throw new UsageError('TOKEN_CACHE_KEY must be 32 bytes in base64 (openssl rand -base64 32).')
  }
}
