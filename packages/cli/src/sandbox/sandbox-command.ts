import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Command, InvalidArgumentError, Option } from 'commander'
import { say } from '../output.ts'
import type { Surroundings } from '../surroundings.ts'
import { UserMistake } from '../user-mistake.ts'
import { loadTokenService } from './load-token-service.ts'

interface SandboxFlags {
  readonly port: number
  readonly clientId: string
  readonly clientSecret?: string
  readonly lifetime: number
  readonly product: readonly string[]
  readonly form: 'products' | 'refresh'
  readonly errors: 'classic' | 'rfc6749'
  readonly json?: true
}

export function sandboxCommand(surroundings: Surroundings): Command {
  return new Command('sandbox')
    .description('Runs a token service of your own on this machine, in memory, with one application.')
    .option('--port <number>', 'port to listen on; 0: a free one', wholeNumber(0, 65_535), 0)
    .option('--client-id <id>', "the application's client ID", 'sandbox')
    .option('--client-secret <secret>', 'its secret (default: made anew at each start)')
    .option('--lifetime <seconds>', 'how long its tokens live', wholeNumber(1, 31_536_000), 3600)
    .option('--product <name...>', 'API products that its tokens are good for', [])
    .addOption(
      new Option('--form <form>', 'form of the token response')
        .choices(['products', 'refresh'])
        .default('products'),
    )
    .addOption(
      new Option('--errors <shape>', 'shape of errors').choices(['classic', 'rfc6749']).default('classic'),
    )
    .option('--json', 'print the settings as JSON')
    .addHelpText('after', examples)
    .action((flags: SandboxFlags) => runSandbox(flags, surroundings))
}

async function runSandbox(flags: SandboxFlags, surroundings: Surroundings): Promise<void> {
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
    errors: flags.errors,
    applications: [application],
    sandbox: true,
  }).catch((error: Error) => {
    throw error.name === 'UserMistake' ? new UserMistake(error.message) : error
  })
  const settings = {
    AUTH_URL: service.authUrl,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    SANDBOX_URL: service.sandboxUrl,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${quote(String(value))}\n`)
  surroundings.stdout.write(flags.json ? `${JSON.stringify(settings)}\n` : lines.join(''))
  say(
    surroundings,
    'Everything is in memory, and gone when you stop it with Ctrl-C. Faults are scripted at SANDBOX_URL.',
  )
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await service.close()
}

/** As shells and `.env` files read it. */
function quote(value: string): string {
  return /^[\w.:/@-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`
}

function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}

const examples = `
Needs @tokenwell/token-service, installed beside this command.

Examples:
  tokenwell sandbox --product speech-to-text --lifetime 60
  tokenwell sandbox --port 8080 --client-id demo --client-secret demo
  curl "$SANDBOX_URL/faults" -H 'content-type: application/json' -d '{ "requests": 2, "status": 503 }'`
