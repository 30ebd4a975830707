export interface ApiErrorOptions {
  /** Replaces `{ "error": { code, message } }`. */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** An error response: a status, a stable code and one sentence for the client. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly statusCode: number
  readonly code: string
  readonly body: object
  readonly headers: Readonly<Record<string, string>>

  constructor(statusCode: number, code: string, message: string, options: ApiErrorOptions = {}) {
    super(message)
    this.statusCode = statusCode
    this.code = code
    this.body = options.body ?? { error: { code, message } }
    this.headers = options.headers ?? {}
  }
}
