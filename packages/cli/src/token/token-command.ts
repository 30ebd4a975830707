import { clientCredentials, createTokenProvider, tokenResponseBody } from '@tokenwell/core'
import { Command, Option } from 'commander'
import {
  addConnectionOptions,
  credentialsHelp,
  type ConnectionFlags,
} from '../connection/connection-options.ts'
import { resolveConnection, type Connection } from '../connection/resolve-connection.ts'
import { info } from '../output.ts'
import type { CommandContext } from '../command-context.ts'
import { openTokenCache } from './token-cache.ts'

interface TokenFlags extends ConnectionFlags {
  readonly json?: true
  readonly header?: true
  /** False with `--no-cache`. */
  readonly cache: boolean
}

/** Enough for the program that the token is passed to. */
const minimumValidityMs = 60_000

export function tokenCommand(context: CommandContext): Command {
  return addConnectionOptions(
    new Command('token').description(
      'Prints an access token to standard output. It is cached for the next call.',
    ),
  )
    .addOption(new Option('--json', 'print access_token, token_type and expires_in').conflicts('header'))
    .option('--header', 'print the whole Authorization header')
    .option('--no-cache', 'request a new token and do not cache it')
    .addHelpText('after', credentialsHelp + examples)
    .action(async (flags: TokenFlags) => {
      const connection = await resolveConnection(flags, context)
      context.stdout.write(`${await requestToken(connection, flags, context)}\n`)
    })
}

async function requestToken(
  connection: Connection,
  flags: TokenFlags,
  context: CommandContext,
): Promise<string> {
  const timeoutMs = flags.timeout * 1000
  const cache = flags.cache ? openTokenCache(context) : undefined
  const tokens = createTokenProvider(clientCredentials(connection), {
    store: cache?.store,
    timeoutMs,
    attemptTimeoutMs: timeoutMs,
    // The process ends before a refresh in the background could.
    refreshAheadMs: 0,
    onEvent: (event) => {
      cache?.onEvent(event)
      if (event.type !== 'token_failed' || event.retryInMs === undefined) return
      const status = event.status === undefined ? '' : ` (status ${event.status})`
      info(context, `The token request failed: ${event.kind}${status}. Retrying …`)
    },
  })
  try {
    const token = await tokens.getToken({ minimumValidityMs })
    if (flags.json) return JSON.stringify(tokenResponseBody(token))
    return flags.header ? `Authorization: Bearer ${token.value}` : token.value
  } finally {
    await tokens.close()
  }
}

const examples = `
Examples:
  tokenwell token --auth-url https://auth.example.com --credentials service.env
  tokenwell token --header | curl -H @- https://api.example.com/v1/orders
  pass show service | tokenwell token --client-id demo --client-secret -`
