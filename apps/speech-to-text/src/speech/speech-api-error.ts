/** An error response of the speech API. */
export class SpeechApiError extends Error {
  override readonly name = 'SpeechApiError'
  readonly status: number
  /** The error code of the API, such as `not_a_wav`. */
  readonly code: string
  readonly retryAfterMs: number | undefined

  constructor(message: string, status: number, code: string, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the recording is the cause, not the API or the credentials. */
  get isRecordingInvalid(): boolean {
    return [400, 413, 415, 422].includes(this.status) || this.code === 'engine_timeout'
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return !this.isRecordingInvalid && (this.status === 429 || this.status >= 500)
  }
}
