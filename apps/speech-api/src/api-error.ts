/** Why a recording was not transcribed: the status of the response, a stable code, and one sentence for the client. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    code: string,
    message: string,
    options: ErrorOptions & { readonly retryAfterSeconds?: number } = {},
  ) {
    super(message, options)
    this.status = status
    this.code = code
    this.retryAfterSeconds = options.retryAfterSeconds
  }
}

export function engineFailed(cause: unknown): ApiError {
  return new ApiError(502, 'engine_failed', 'The speech recognition failed. Send the recording again.', {
    cause,
  })
}

export function engineClosed(): ApiError {
  return new ApiError(503, 'engine_closed', 'The speech API is shutting down. Try again later.')
}
