import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Command, Option } from 'commander'
import type * as TokenService from '@tokenwell/token-service'
import { wholeNumber } from './connection/flags.ts'
import { UsageError } from './errors.ts'
import { info, type CommandContext } from './output.ts'

interface SandboxFlags {
  readonly port: number
  readonly clientId: string
  readonly clientSecret?: string
  readonly lifetime: number
  readonly product: readonly string[]
  readonly form: 'products' | 'refresh'
  readonly format: 'platform' | 'standard'
  readonly json?: true
}

export function sandboxCommand(context: CommandContext): Command {
  return new Command('sandbox')
    .description('Runs a local token service in memory, with one application.')
    .option('--port <number>', 'port to listen on; 0 selects a free port', wholeNumber(0, 65_535), 0)
    .option('--client-id <id>', 'client ID of the application', 'sandbox')
    .option('--client-secret <secret>', 'client secret (default: a new random one at each start)')
    .option('--lifetime <seconds>', 'lifetime of the tokens', wholeNumber(1, 31_536_000), 3600)
    .option('--product <name...>', 'API products that the tokens are valid for', [])
    .addOption(
      new Option('--form <format>', 'format of the token response')
        .choices(['products', 'refresh'])
        .default('products'),
    )
    .addOption(
      new Option('--format <format>', 'format of requests and errors: platform or standard (RFC 6749)')
        .choices(['platform', 'standard'])
        .default('platform'),
    )
    .option('--json', 'print the settings as JSON')
    .addHelpText('after', examples)
    .action((flags: SandboxFlags) => runSandbox(flags, context))
}

async function runSandbox(flags: SandboxFlags, context: CommandContext): Promise<void> {
  const { startTokenService } = await loadTokenService()
  const clientSecret = flags.clientSecret ?? randomBytes(24).toString('base64url')
  const { clientId } = flags
  const application = {
    name: 'sandbox',
    clientId,
    clientSecret,
    lifetimeSeconds: flags.lifetime,
    products: flags.product,
    responseForm: flags.form,
  }
  const service = await startTokenService({
    port: flags.port,
    format: flags.format,
    applications: [application],
    sandbox: true,
  }).catch((error: Error) => {
    throw error.name === 'UsageError' ? new UsageError(error.message) : error
  })
  const settings = {
    AUTH_URL: service.authUrl,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    SANDBOX_URL: service.sandboxUrl,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${quote(String(value))}\n`)
  context.stdout.write(flags.json ? `${JSON.stringify(settings)}\n` : lines.join(''))
  info(context, 'All data is in memory and is lost on Ctrl+C. Inject faults at SANDBOX_URL.')
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await service.close()
}

/** Quotes a value for shells and `.env` files. */
function quote(value: string): string {
  return /^[\w.:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}

const examples = `
Requires the package @tokenwell/token-service.

Examples:
  tokenwell sandbox --product speech-to-text --lifetime 60
  tokenwell sandbox --port 8080 --client-id demo --client-secret demo
  curl "$SANDBOX_URL/faults" --json '{ "requests": 2, "status": 503 }'`

/** Loaded on demand: it is several times as large as the rest of the command line. */
async function loadTokenService(): Promise<typeof TokenService> {
  try {
    return await import('@tokenwell/token-service')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_MODULE_NOT_FOUND' || !message.includes("'@tokenwell/token-service'")) throw error
    throw new UsageError('The sandbox requires @tokenwell/token-service.', [
      'Run npm install @tokenwell/token-service, or npx -p tokenwell -p @tokenwell/token-service tokenwell sandbox.',
    ])
  }
}
