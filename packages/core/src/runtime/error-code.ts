const codeShape = /^[\w.-]{1,80}$/

/** The most specific code or name in a chain of causes, such as `ECONNREFUSED`. Error messages may hold secrets; codes do not. */
export function errorCode(error: unknown): string {
  let name = 'unknown error'
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    const { code, name: own, cause, errors } = error as Record<string, unknown>
    if (typeof code === 'string' && codeShape.test(code)) return code
    if (depth === 0 && typeof own === 'string' && codeShape.test(own)) name = own
    error = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return name
}
