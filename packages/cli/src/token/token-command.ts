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

interface TokenFlags extends ConnectionFlags {
  readonly json?: true
  readonly header?: true
}

export function tokenCommand(context: CommandContext): Command {
  return addConnectionOptions(
    new Command('token').description('Prints a new access token to standard output.'),
  )
    .addOption(new Option('--json', 'print access_token, token_type and expires_in').conflicts('header'))
    .option('--header', 'print the whole Authorization header')
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
  const tokens = createTokenProvider(clientCredentials(connection), {
    timeoutMs,
    attemptTimeoutMs: timeoutMs,
    onEvent: (event) => {
      if (event.type !== 'token_failed' || event.retryInMs === undefined) return
      const status = event.status === undefined ? '' : ` (status ${event.status})`
      info(context, `The token request failed: ${event.kind}${status}. Retrying …`)
    },
  })
  try {
    const token = await tokens.getToken()
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
