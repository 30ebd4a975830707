/** A mistake by the user, printed without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** The user pressed Ctrl+C or Ctrl+D at a prompt. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted'
}
