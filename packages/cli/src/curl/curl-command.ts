import { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { addConnectionOptions, credentialsHelp } from '../configuration/connection-options.ts'
import { resolveConnection } from '../configuration/resolve-connection.ts'
import { isSecureUrl, parseHttpUrl } from '../configuration/secure-url.ts'
import { requestToken, type TokenRequestFlags } from '../token/request-token.ts'
import { UsageError } from '../usage-error.ts'
import { allowedOptionsHelp, checkArguments } from './curl-arguments.ts'
import { runCurl } from './run-curl.ts'

interface CurlFlags extends TokenRequestFlags {
  readonly allowOrigin?: readonly string[]
}

export function curlCommand(context: CommandContext, end: (code: number) => void): Command {
  return addConnectionOptions(
    new Command('curl').description('Uses curl to send one request with a token to an allowed origin.'),
  )
    .argument('<url>', 'URL of the request')
    .argument('[arguments...]', 'options of curl, after --')
    .option('--allow-origin <origin...>', 'origins that may receive the token (or ALLOWED_ORIGINS)')
    .option('--no-cache', 'request a new token and do not cache it')
    .addHelpText('after', credentialsHelp + allowedOptionsHelp + notes)
    .action(async (text: string, args: readonly string[], flags: CurlFlags) => {
      const url = checkUrl(text, flags, context.env)
      checkArguments(args)
      const connection = await resolveConnection(flags, context)
      end(await runCurl(url, args, await requestToken(connection, flags, context), context.env))
    })
}

function checkUrl(
  text: string,
  { allowOrigin, allowInsecureRequests }: CurlFlags,
  env: NodeJS.ProcessEnv,
): URL {
  const url = parseHttpUrl(text)
  if (url === undefined)
    throw new UsageError(
      'The URL of the request must be absolute, such as https://api.example.com/v1/orders.',
    )
  if (!isSecureUrl(url, allowInsecureRequests)) {
    throw new UsageError(
      'The URL of the request must start with https://. Inside a trusted network, pass --allow-insecure.',
    )
  }
  const origins = allowOrigin ?? env['ALLOWED_ORIGINS']?.split(/[\s,]+/).filter(Boolean) ?? []
  const allowed = origins.some((each) => URL.canParse(each) && new URL(each).origin === url.origin)
  if (!allowed) {
    throw new UsageError(
      `${url.origin} is not an allowed origin. Pass --allow-origin ${url.origin}, or set ALLOWED_ORIGINS.`,
    )
  }
  return url
}

const notes = `
-v prints the token. ~/.curlrc is not read. Proxies come from the environment, and are not used for plain HTTP.
curl must be installed. The token is passed through a pipe, so that it appears neither in the process list nor in a
file. The exit code is curl's.

Examples:
  tokenwell curl https://api.example.com/v1/orders --allow-origin https://api.example.com
  tokenwell curl "$API_URL/v1/orders" -- --json '{"item":7}' --fail-with-body`
