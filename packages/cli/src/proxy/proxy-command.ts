import { once } from 'node:events'
import { createTokenProvider } from '@tokenwell/core'
import { Command } from 'commander'
import { type CommandContext, info } from '../output.ts'
import { wholeNumber, isSecureUrl } from '../configuration/option-values.ts'
import {
  addConnectionOptions,
  credentialsHelp,
  type ConnectionFlags,
} from '../configuration/connection-options.ts'
import { resolveSource } from '../configuration/resolve-connection.ts'
import { UsageError } from '../command-errors.ts'
import { startProxy } from './start-proxy.ts'

interface ProxyFlags extends ConnectionFlags {
  readonly to: string
  readonly port: number
}

export function proxyCommand(context: CommandContext): Command {
  return addConnectionOptions(
    new Command('proxy').description(
      'Forwards requests of programs on this machine to one API, and attaches tokens to them.',
    ),
  )
    .requiredOption('--to <url>', 'base URL of the API')
    .option('--port <number>', 'port to listen on; 0 selects a free port', wholeNumber(0, 65_535), 0)
    .addHelpText('after', credentialsHelp + examples)
    .action((flags: ProxyFlags) => runProxy(flags, context))
}

async function runProxy(flags: ProxyFlags, context: CommandContext): Promise<void> {
  const target = targetOf(flags)
  const source = await resolveSource(flags, context)
  const timeoutMs = flags.timeout * 1000
  await using tokens = createTokenProvider(source, { timeoutMs })
  const { port, allowInsecure: allowInsecureRequests } = flags
  const proxy = await startProxy({ target, tokens, port, allowInsecureRequests })
  context.stdout.write(`${proxy.url}\n`)
  info(
    context,
    `Use this URL instead of ${target.href}. Anybody who knows it can call the API. Stop with Ctrl+C.`,
  )
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await proxy.close()
}

/** @throws {UsageError} that does not quote the URL, which may contain a password */
function targetOf({ to, allowInsecure }: ProxyFlags): URL {
  const url = URL.canParse(to) ? new URL(to) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new UsageError('--to must be the base URL of an API, such as https://api.example.com/v1.')
  }
  if (!isSecureUrl(url, allowInsecure)) {
    throw new UsageError(
      '--to must start with https://, because tokens are sent to it. Inside a trusted network, pass --allow-insecure.',
    )
  }
  return url
}

const examples = `
Examples:
  tokenwell proxy --to https://api.example.com/v1
  curl "$PROXY_URL/orders"`
