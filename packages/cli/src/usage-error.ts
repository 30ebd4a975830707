/** An error that the user can fix: printed as one sentence, without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
