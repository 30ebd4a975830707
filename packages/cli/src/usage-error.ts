/** A mistake by the user, printed without a stack trace. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
