/** The speech API did not respond. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'

  constructor(url: string, cause: unknown) {
    super(`The speech API at ${url} could not be reached (${errorCode(cause)}).`)
  }
}

/** HTTP clients wrap each other's errors: the innermost code, such as `ECONNREFUSED`, is the most specific. */
function errorCode(error: unknown): string {
  const { code, cause, errors, name } = Object(error)
  const inner = cause ?? errors?.[0]
  return inner ? errorCode(inner) : String(code ?? name ?? 'unknown error')
}
