import { TokenError } from '@tokenwell/core'
import { Interrupted } from './interrupted.ts'
import { UserMistake } from './user-mistake.ts'

/** Options of the library, and what they are called here. */
const flags: Readonly<Record<string, string>> = {
  'allowInsecure: true': '--allow-insecure',
  authUrl: '--auth-url',
  tokenUrl: '--token-url',
  clientId: 'The client ID',
  clientSecret: 'The client secret',
  extraParameters: '--parameter',
}

/** What to say about an error, in words of the command line; never text that a secret could be in. */
export function explainError(error: unknown): string {
  if (error instanceof UserMistake) return error.message
  if (error instanceof Interrupted) return 'Interrupted.'
  if (!(error instanceof TokenError)) return explainFault(error)
  const message = Object.entries(flags).reduce(
    (text, [option, flag]) => text.replaceAll(option, flag),
    error.message,
  )
  const hint =
    error.status === undefined && error.kind === 'configuration' ? '' : ' `tokenwell doctor` looks closer.'
  return `${message}.${hint}`
}

/** Its own text is left out: nobody knows what is in it. */
function explainFault(error: unknown): string {
  const { name = 'unknown', message = '', stack = '' } = error instanceof Error ? error : {}
  const places = stack
    .replace(message, '')
    .split('\n')
    .filter((line) => /^\s+at .*:\d+:\d+\)?$/.test(line))
  return ['This is a fault of tokenwell itself; please report it.', name, ...places].join('\n')
}
