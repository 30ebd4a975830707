/** A mistake in the options, configuration or environment. Its message explains the fix, so it needs no stack trace. */
export class UsageError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'UsageError'
  }
}

/** What an administrator named does not exist. */
export class NotFoundError extends UsageError {}
