/** The client has as many active jobs as it may have at the moment. */
export class JobLimitError extends Error {
  override readonly name = 'JobLimitError'
  readonly retryAfterSeconds = 5

  constructor(jobs: number) {
    super(
      `You have ${jobs} active ${jobs === 1 ? 'job' : 'jobs'}, the current maximum. Wait for one or cancel one.`,
    )
  }
}
