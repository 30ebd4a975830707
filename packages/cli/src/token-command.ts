import { isTokenError, tokenResponseBody, type AccessToken, type TokenEvent } from '@tokenwell/core'
import {
  createFileTokenStore,
  defaultTokenFolder,
  type FileTokenStore,
  type FileTokenStoreOptions,
} from '@tokenwell/token-stores/file'
import { Command, Option } from 'commander'
import { addConnectionFlags, credentialsHelp, wholeNumber, type ConnectionFlags } from './connection/flags.ts'
import { resolveTokens } from './connection/resolve.ts'
import { variables } from './connection/variables.ts'
import { UsageError } from './errors.ts'
import { type CommandContext, info, warn } from './output.ts'

interface TokenFlags extends TokenRequestFlags {
  readonly json?: true
  readonly header?: true
  readonly headersJson?: true
}

export function tokenCommand(context: CommandContext): Command {
  const command = new Command('token')
    .description('Prints an access token to standard output. It is cached for the next call.')
    .addOption(new Option('--header', 'print the whole Authorization header').conflicts('headersJson'))
    .addOption(
      new Option(
        '--json',
        'print access_token, token_type and expires_in; or error and error_description',
      ).conflicts(['header', 'headersJson']),
    )
    .option('--headers-json', 'print {"Authorization":"Bearer …"}, as editors and agents read it')
    .option('--no-cache', 'request a new token and do not cache it')
    .option(
      '--fresh',
      'request a new token, at most one in 10 s, and cache it: after an API has rejected the cached one',
    )
    .addOption(
      new Option(
        '--fresh-after <seconds>',
        'with --headers-json, for programs that run this again after a 401: a new token for the second call within this time',
      )
        .argParser(wholeNumber(1, 3_600))
        .conflicts('fresh'),
    )
  return addConnectionFlags(command)
    .addHelpText('after', credentialsHelp + examples)
    .action(async (flags: TokenFlags) => {
      const token = await requestToken(flags, context)
      context.stdout.write(`${format(token, flags)}\n`)
    })
}

function format(token: AccessToken, { json, header, headersJson }: TokenFlags): string {
  const authorization = `Bearer ${token.value}`
  if (json) return JSON.stringify(tokenResponseBody(token))
  if (headersJson) return JSON.stringify({ Authorization: authorization })
  return header ? `Authorization: ${authorization}` : token.value
}

const examples = `
Examples:
  tokenwell token --auth-url https://auth.example.com --credentials service.env
  tokenwell token --header | curl -H @- https://api.example.com/v1/orders
  pass show service | tokenwell token --client-id demo --client-secret -`

export function logoutCommand(context: CommandContext): Command {
  return new Command('logout')
    .description('Removes all your cached tokens from this machine, without revoking them.')
    .action(async () => {
      const { store } = openTokenCache(context)
      try {
        await store.clear()
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException
        throw new UsageError(`Could not remove the token cache ${store.folder} (${code}).`)
      }
      info(context, 'Removed all cached tokens.')
    })
}

interface TokenRequestFlags extends ConnectionFlags {
  /** False with `--no-cache`. */
  readonly cache: boolean
  readonly fresh?: true
  /** Seconds. */
  readonly freshAfter?: number
}

/** How often a cached token may be replaced before it expires. */
const freshPauseMs = 10_000

/** Enough for the program that the token is passed to. */
const minimumValidityMs = 60_000

/** Returns the cached token, or requests one; reports each retry. */
async function requestToken(flags: TokenRequestFlags, context: CommandContext): Promise<AccessToken> {
  const timeoutMs = flags.timeout * 1000
  const cache = flags.cache ? openTokenCache(context) : undefined
  const tokens = await resolveTokens(flags, context, {
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
    const token = await tokens.getToken({ minimumValidityMs })
    const mayReplace = cache && (await cache.mayReplace(flags))
    return mayReplace ? await tokens.getToken({ forceRefresh: true }) : token
  } finally {
    await tokens.close()
  }
}

/** The tokens of earlier calls of the command, and a listener that reports problems with them. */
interface TokenCache {
  readonly store: FileTokenStore
  readonly onEvent: (event: TokenEvent) => void
  /** Whether a new token is to be requested now, although the last one, which this command has got, may be valid. */
  mayReplace(flags: TokenRequestFlags): Promise<boolean>
}

function openTokenCache(context: CommandContext): TokenCache {
  let warned = false
  const warnOnce = (sentence: string): void => {
    if (!warned) warn(context, sentence)
    warned = true
  }
  const store = openStore(context, ({ path }) =>
    warnOnce(`The cached token in ${path} is damaged. It will be replaced.`),
  )
  let key: string | undefined
  let isCached = false
  /** False if somebody has taken this turn within the last `ms`, for this entry of the cache. */
  const takeTurn = async (turn: string, ms: number): Promise<boolean> =>
    // A lease that nobody releases, so that it counts for all processes.
    (await store.lease(`${turn} ${key}`, ms)) !== undefined
  return {
    store: {
      ...store,
      read(cacheKey) {
        key = cacheKey
        return store.read(cacheKey)
      },
    },
    async mayReplace({ fresh, freshAfter }) {
      if (key === undefined || (!fresh && freshAfter === undefined)) return false
      const isFirst = freshAfter !== undefined && (await takeTurn('printed', freshAfter * 1_000))
      // A token that has just been requested is fresh.
      if (isFirst || (!isCached && !fresh)) return false
      return (await takeTurn('fresh', freshPauseMs)) && isCached
    },
    onEvent(event) {
      if (event.type === 'token_received') isCached = event.from === 'store'
      if (event.type !== 'store_unavailable') return
      warnOnce(
        `The token cache ${store.folder} cannot be used (${event.cause}). ` +
          'Check that the folder is accessible only to you, or pass --no-cache.',
      )
    },
  }
}

const [cacheKey] = variables.cacheKey

/** @throws {UsageError} for an invalid key */
function openStore({ env }: CommandContext, onEvent: FileTokenStoreOptions['onEvent']): FileTokenStore {
  // The first one encrypts, all decrypt: during a rotation, the old key follows the new one.
  const encryptionKeys = env[cacheKey] ? env[cacheKey].split(',') : undefined
  try {
    return createFileTokenStore({ folder: defaultTokenFolder(env), encryptionKeys, onEvent })
  } catch (error) {
    if (!isTokenError(error)) throw error
    throw new UsageError(`${cacheKey} must be 32 bytes in base64 (openssl rand -base64 32).`)
  }
}
