export interface ApiErrorOptions {
  /** Sent in place of `{ "error": { code, message } }`. */
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

/** A request that is answered with an error: a stable code and one sentence for whoever sent it. */
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
