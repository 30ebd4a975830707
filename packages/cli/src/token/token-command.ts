import { tokenResponseBody } from '@tokenwell/core'
import { Command, Option } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { addConnectionOptions, credentialsHelp } from '../configuration/connection-options.ts'
import { resolveConnection } from '../configuration/resolve-connection.ts'
import { requestToken, type TokenRequestFlags } from './request-token.ts'

interface TokenFlags extends TokenRequestFlags {
  readonly json?: true
  readonly header?: true
}

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
      const token = await requestToken(connection, flags, context)
      const header = flags.header ? 'Authorization: Bearer ' : ''
      const text = flags.json ? JSON.stringify(tokenResponseBody(token)) : header + token.value
      context.stdout.write(`${text}\n`)
    })
}

const examples = `
Examples:
  tokenwell token --auth-url https://auth.example.com --credentials service.env
  tokenwell token --header | curl -H @- https://api.example.com/v1/orders
  pass show service | tokenwell token --client-id demo --client-secret -`
