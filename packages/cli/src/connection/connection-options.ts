import { InvalidArgumentError, Option, type Command } from 'commander'

/** What the commands that talk to a token endpoint have in common, as given. */
export interface ConnectionFlags {
  readonly authUrl?: string
  readonly tokenUrl?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly credentials?: string
  readonly basic?: true
  readonly scope?: readonly string[]
  readonly audience?: string
  readonly resource?: readonly string[]
  readonly parameter?: readonly string[]
  readonly expiresIn: 'seconds' | 'milliseconds'
  readonly allowInsecure?: true
  /** Seconds. */
  readonly timeout: number
}

export function addConnectionOptions(command: Command): Command {
  return command
    .option('--auth-url <url>', "base address of the platform's token service (or AUTH_URL)")
    .option('--token-url <url>', 'any RFC 6749 token endpoint instead (or TOKEN_URL)')
    .option('--client-id <id>', 'client ID or consumer key (or CLIENT_ID, CONSUMER_KEY)')
    .option('--client-secret <secret>', 'better: CLIENT_SECRET or CONSUMER_SECRET; - reads standard input')
    .option('--credentials <file>', 'file of your own alone with CLIENT_ID=… and CLIENT_SECRET=…, or JSON')
    .option('--basic', 'send the credentials in an Authorization header instead of the body')
    .option('--scope <scope>', 'scope to ask for; may be repeated', collect)
    .option('--audience <audience>', 'audience to ask for')
    .option('--resource <uri>', 'resource to ask for (RFC 8707); may be repeated', collect)
    .option('--parameter <name=value>', 'further form parameter; may be repeated', collect)
    .addOption(
      new Option('--expires-in <unit>', "unit of the answer's expires_in")
        .choices(['seconds', 'milliseconds'])
        .default('seconds'),
    )
    .option('--allow-insecure', 'allow plain HTTP to other hosts than this one')
    .option('--timeout <seconds>', 'the longest to wait', seconds, 30)
}

export const credentialsHelp = `
Credentials are taken from the flags, else from the file, else from the environment, else asked for on a terminal.
`

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function seconds(value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && number > 0 && number <= 3600) return number
  throw new InvalidArgumentError('It must be a number from above 0 to 3600.')
}
