import { Command } from 'commander'
import type { CommandContext } from '../command-context.ts'
import { addConnectionOptions, credentialsHelp } from '../configuration/connection-options.ts'
import { resolveConnection } from '../configuration/resolve-connection.ts'
import { isSecureUrl, parseHttpUrl } from '../configuration/secure-url.ts'
import { requestToken, type TokenRequestFlags } from '../token/request-token.ts'
import { UsageError } from '../usage-error.ts'
import { runCurl } from './run-curl.ts'

interface CurlFlags extends TokenRequestFlags {
  readonly allowOrigin?: readonly string[]
}

export function curlCommand(context: CommandContext, end: (code: number) => void): Command {
  return addConnectionOptions(
    new Command('curl').description('Uses curl to send one request with a token to an allowed origin.'),
  )
    .argument('<url>', 'URL of the request')
    .argument('[arguments...]', 'arguments for curl, after --')
    .option('--allow-origin <origin...>', 'origins that may receive the token (or ALLOWED_ORIGINS)')
    .option('--no-cache', 'request a new token and do not cache it')
    .addHelpText('after', credentialsHelp + examples)
    .action(async (text: string, args: readonly string[], flags: CurlFlags) => {
      const url = checkUrl(text, flags, context.env)
      checkArguments(args)
      const connection = await resolveConnection(flags, context)
      end(await runCurl(url, args, await requestToken(connection, flags, context), context.env))
    })
}

function checkUrl(text: string, { allowOrigin, allowInsecure }: CurlFlags, env: NodeJS.ProcessEnv): URL {
  const url = parseHttpUrl(text)
  if (url === undefined)
    throw new UsageError(
      'The URL of the request must be absolute, such as https://api.example.com/v1/orders.',
    )
  if (!isSecureUrl(url, allowInsecure)) {
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

/** These would send the token elsewhere. */
const forbidden = ['--location-trusted', '--next', '-:', '--url', '--config', '-K']

function checkArguments(args: readonly string[]): void {
  const found = args.find((each) => forbidden.includes(each))
  if (found !== undefined)
    throw new UsageError(`${found} is not allowed: curl could send the token elsewhere.`)
  // The value of an option, such as --proxy, may be a URL.
  const isUrl = (each: string, index: number) =>
    /^https?:\/\//i.test(each) && !args[index - 1]?.startsWith('-')
  if (args.some(isUrl))
    throw new UsageError(
      'The arguments for curl contain another URL. Only one is allowed, because curl would send the token to both.',
    )
}

const examples = `
curl must be installed. The token is passed through a pipe, so that it appears neither in the process list nor in a
file. The exit code is curl's.

Examples:
  tokenwell curl https://api.example.com/v1/orders --allow-origin https://api.example.com
  tokenwell curl "$API_URL/v1/orders" -- --json '{"item":7}' --fail-with-body`
