/** The speech API answered, but with an error. */
export class SpeechApiError extends Error {
  override readonly name = 'SpeechApiError'
  readonly status: number
  /** The API's own code, such as `not_a_wav`. */
  readonly code: string
  readonly retryAfterMs: number | undefined

  constructor(message: string, status: number, code: string, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the recording is to blame, rather than the API or the credentials. */
  get blamesRecording(): boolean {
    return [400, 413, 415, 422].includes(this.status) || this.code === 'engine_timeout'
  }

  /** Whether the same request may well succeed later. */
  get passes(): boolean {
    return !this.blamesRecording && (this.status === 429 || this.status >= 500)
  }
}
