import { InvalidArgumentError, Option, type Command } from 'commander'

/** Flags that all commands with a token endpoint share, as parsed. */
export interface ConnectionFlags {
  readonly authUrl?: string
  readonly tokenEndpoint?: string
  readonly issuer?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly privateKey?: string
  readonly keyId?: string
  readonly algorithm?: string
  readonly assertionFile?: string
  readonly identity?: Identity
  readonly grant: (typeof grants)[number]
  readonly assertionAudience?: string
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

/** What issues the JWT of the machine. */
export type Identity = (typeof identities)[number]
const identities = ['github-actions', 'gcp', 'azure'] as const

const grants = ['client-credentials', 'jwt-bearer'] as const

/** Adds the flags, the most common ones first. Those of the command itself come before them. */
export function addConnectionFlags(command: Command): Command {
  return command
    .optionsGroup('Token endpoint and credentials:')
    .option('--issuer <url>', 'issuer whose metadata names the token endpoint (or ISSUER)')
    .option('--token-endpoint <url>', 'full URL of the token endpoint (or TOKEN_ENDPOINT)')
    .option('--auth-url <url>', "base URL of the platform's token service (or AUTH_URL)")
    .option('--client-id <id>', 'client ID or consumer key (or CLIENT_ID, CONSUMER_KEY)')
    .option(
      '--client-secret <secret>',
      'client secret, or - for standard input; prefer CLIENT_SECRET or CONSUMER_SECRET',
    )
    .option('--credentials <file>', 'private file with CLIENT_ID=… and CLIENT_SECRET=…, or with JSON')
    .optionsGroup('Token request:')
    .option('--scope <scope>', 'scope to request; may be repeated', collect)
    .option('--audience <audience>', 'audience to request')
    .option('--resource <uri>', 'resource to request (RFC 8707); may be repeated', collect)
    .option('--parameter <name=value>', 'additional form parameter; may be repeated', collect)
    .option('--basic', 'send the credentials in an Authorization header instead of the body')
    .option('--timeout <seconds>', 'maximum time to wait', seconds, 30)
    .option('--allow-insecure', 'allow plain HTTP to hosts other than this machine')
    .addOption(
      new Option('--expires-in <unit>', 'unit of expires_in in the token response')
        .choices(['seconds', 'milliseconds'])
        .default('seconds'),
    )
    .optionsGroup('Instead of a client secret:')
    .addOption(
      new Option(
        '--private-key <file>',
        'file with a private key to sign with, PEM or JWK (or PRIVATE_KEY_FILE)',
      ).conflicts(['clientSecret', 'assertionFile']),
    )
    .option('--key-id <id>', 'ID under which the public key is registered with the token service (or KEY_ID)')
    .option('--algorithm <name>', 'algorithm of the private key, such as PS256')
    .addOption(
      new Option(
        '--assertion-file <file>',
        'file with a JWT issued by a platform, such as Kubernetes (or ASSERTION_FILE)',
      ).conflicts('clientSecret'),
    )
    .addOption(
      new Option(
        '--identity <platform>',
        'authenticate with the identity that a platform gives this machine (or IDENTITY)',
      )
        .choices(identities)
        .conflicts(['clientSecret', 'privateKey', 'assertionFile']),
    )
    .option(
      '--assertion-audience <audience>',
      'audience of the assertion, by default the issuer (or ASSERTION_AUDIENCE)',
    )
    .addOption(
      new Option(
        '--grant <grant>',
        'jwt-bearer: the JWT of --identity or --assertion-file is the grant, and needs no client ID',
      )
        .choices(grants)
        .default('client-credentials'),
    )
}

export const credentialsHelp = `
Precedence of credentials: flags, file, environment, prompt.
`

function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

function seconds(value: string): number {
  const number = Number(value)
  if (value.trim() !== '' && number > 0 && number <= 3600) return number
  throw new InvalidArgumentError('It must be a number greater than 0 and at most 3600.')
}

/** Parses the value of an option. */
export function wholeNumber(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value)
    if (/^\d+$/.test(value) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`)
  }
}
