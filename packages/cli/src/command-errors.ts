import { TokenError } from '@tokenwell/core'
/** A mistake by the user, printed without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
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

export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return exitCode.usage
  if (error instanceof InterruptedError) return exitCode.interrupted
  if (!(error instanceof TokenError)) return exitCode.internal
  switch (error.kind) {
    case 'credentials':
      return exitCode.rejected
    case 'configuration':
      // Without a response, the options are invalid.
      return error.status === undefined ? exitCode.usage : exitCode.rejected
    case 'throttled':
    case 'unavailable':
    case 'malformed':
    case 'aborted':
      return exitCode.noResponse
  }
}
