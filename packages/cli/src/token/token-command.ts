import { tokenResponseBody, type AccessToken, createTokenProvider, type TokenSource } from '@tokenwell/core'
import { Command, Option } from 'commander'
import { type CommandContext, info } from '../output.ts'
import {
  addConnectionOptions,
  credentialsHelp,
  type ConnectionFlags,
} from '../configuration/connection-options.ts'
import { resolveSource } from '../configuration/resolve-connection.ts'
import { UsageError } from '../command-errors.ts'
import { openTokenCache } from './token-cache.ts'

interface TokenFlags extends TokenRequestFlags {
  readonly json?: true
  readonly header?: true
  readonly headersJson?: true
}

export function tokenCommand(context: CommandContext): Command {
  return addConnectionOptions(
    new Command('token').description(
      'Prints an access token to standard output. It is cached for the next call.',
    ),
  )
    .addOption(
      new Option('--json', 'print access_token, token_type and expires_in').conflicts([
        'header',
        'headersJson',
      ]),
    )
    .addOption(new Option('--header', 'print the whole Authorization header').conflicts('headersJson'))
    .option('--headers-json', 'print {"Authorization":"Bearer …"}, as editors and agents read it')
    .option('--no-cache', 'request a new token and do not cache it')
    .addHelpText('after', credentialsHelp + examples)
    .action(async (flags: TokenFlags) => {
      const source = await resolveSource(flags, context)
      const token = await requestToken(source, flags, context)
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

export interface TokenRequestFlags extends ConnectionFlags {
  /** False with `--no-cache`. */
  readonly cache: boolean
}

/** Enough for the program that the token is passed to. */
const minimumValidityMs = 60_000

/** Returns the cached token, or requests one; reports each retry. */
async function requestToken(
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
