import { TokenError } from '@tokenwell/core'
import { Interrupted } from './interrupted.ts'
import { UserMistake } from './user-mistake.ts'

/** What the command ends with; `--help` and the README tell them too. */
export const exitCode = {
  ok: 0,
  refused: 1,
  usage: 2,
  noAnswer: 3,
  internal: 70,
  interrupted: 130,
} as const

export type ExitCode = (typeof exitCode)[keyof typeof exitCode]

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UserMistake) return exitCode.usage
  if (error instanceof Interrupted) return exitCode.interrupted
  if (!(error instanceof TokenError)) return exitCode.internal
  switch (error.kind) {
    case 'credentials':
      return exitCode.refused
    case 'configuration':
      // Without an answer it was found here.
      return error.status === undefined ? exitCode.usage : exitCode.refused
    case 'throttled':
    case 'unavailable':
    case 'malformed':
    case 'aborted':
      return exitCode.noAnswer
  }
}
