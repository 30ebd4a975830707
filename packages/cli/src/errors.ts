import { TokenError } from '@tokenwell/core'
import { CommanderError } from 'commander'

/** A usage error, printed without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  /** What to do, a sentence each. */
  readonly hints: readonly string[]
  constructor(message: string, hints: readonly string[] = []) {
    super(message)
    this.hints = hints
  }
}

/** The user pressed Ctrl+C or Ctrl+D at a prompt. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted'
}

/** Exit codes of the command; also listed in `--help` and the README. */
export const exitCode = {
  ok: 0,
  rejected: 1,
  usage: 2,
  noResponse: 3,
  internal: 70,
  unwritable: 74,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

/** What is printed of an error; never text that could contain a secret. */
export interface Failure {
  readonly exitCode: ExitCode
  /** As in RFC 6749, section 5.2: the code of the token endpoint, the kind of a `TokenError`, or that of another error. */
  readonly error: string
  readonly message: string
  readonly hints: readonly string[]
  /** Of the token endpoint's response. */
  readonly status?: number | undefined
}

/** Describes an error in terms of the command line. */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) {
    const { message, hints } = error
    return { exitCode: exitCode.usage, error: 'usage', message, hints }
  }
  if (error instanceof InterruptedError) {
    return { exitCode: exitCode.interrupted, error: 'interrupted', message: 'Interrupted.', hints: [] }
  }
  if (error instanceof CommanderError) return describeCommanderError(error)
  if (error instanceof TokenError) return describeTokenError(error)
  const { name = 'unknown', message = '', stack = '' } = error instanceof Error ? error : {}
  // Without the message, which could contain a secret.
  const places = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  const report = ['Internal error in tokenwell. Please report it.', name, ...places].join('\n')
  return { exitCode: exitCode.internal, error: 'internal', message: report, hints: [] }
}

function describeTokenError(error: TokenError): Failure {
  const { kind, status, oauthError } = error
  // Without a response, the options are invalid.
  const isUsage = kind === 'configuration' && status === undefined
  const isRejection = kind === 'credentials' || kind === 'configuration'
  return {
    exitCode: isUsage ? exitCode.usage : isRejection ? exitCode.rejected : exitCode.noResponse,
    error: oauthError ?? kind,
    message: nameOptions(error.message),
    hints: isUsage ? [] : ['`tokenwell doctor` examines the token endpoint.'],
    status,
  }
}

/** Its own message is one line such as `error: unknown option '--bsic'`, and `(Did you mean --basic?)` on a second one. */
function describeCommanderError({ message }: CommanderError): Failure {
  const [, text = '', suggestion] = /^error: (.*?)\s*(?:\((Did you mean .*\?)\))?$/s.exec(message) ?? []
  const sentence = asSentence(withoutValues(text))
  return {
    exitCode: exitCode.usage,
    error: 'usage',
    message: sentence.charAt(0).toUpperCase() + sentence.slice(1),
    hints: [suggestion ?? '`tokenwell --help` lists the commands, and `--help` after a command its options.'],
  }
}

/** A value that was mistyped may be a secret. */
function withoutValues(text: string): string {
  return text
    .replace(/'(--?[^'=]*)=.*'/s, "'$1=…'")
    .replace(/argument '.*' is invalid/s, "argument '…' is invalid")
    .replace(/unknown command '.*'/s, 'unknown command')
    .replace(/(arguments? but got \d+).*$/s, '$1')
}

/** Options of the library, and what replaces them in messages. */
const flags: Readonly<Record<string, string>> = {
  'set allowInsecureRequests: true': 'pass --allow-insecure',
  'Set algorithm to one': 'Pass --algorithm with one',
  authUrl: '--auth-url',
  tokenEndpoint: '--token-endpoint',
  clientId: 'The client ID',
  clientSecret: 'The client secret',
  parameters: '--parameter',
}

/** Replaces the names of the library's options in a message, by default by the flags of the command line. */
export function nameOptions(message: string, names: Readonly<Record<string, string>> = {}): string {
  const named = Object.entries({ ...flags, ...names }).reduce(
    (text, [option, name]) => text.replaceAll(option, name),
    message,
  )
  return asSentence(named)
}

/** Ends a message of the library with exactly one full stop. */
export function asSentence(message: string): string {
  return message.replace(/\.?$/, '.')
}
