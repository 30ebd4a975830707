import { TokenError } from '@tokenwell/core'
import { InterruptedError, UsageError } from './command-errors.ts'

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

/** Describes an error in terms of the command line; never with text that could contain a secret. */
export function explainError(error: unknown): string {
  if (error instanceof UsageError) return error.message
  if (error instanceof InterruptedError) return 'Interrupted.'
  if (!(error instanceof TokenError)) return explainInternalError(error)
  const hint =
    error.status === undefined && error.kind === 'configuration' ? '' : ' Run `tokenwell doctor` for details.'
  return `${nameOptions(error.message)}${hint}`
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

/** The message is omitted, because it could contain a secret. */
function explainInternalError(error: unknown): string {
  const { name = 'unknown', message = '', stack = '' } = error instanceof Error ? error : {}
  const places = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return ['Internal error in tokenwell. Please report it.', name, ...places].join('\n')
}
