const codeShape = /^[\w.-]{1,80}$/

/** Why `fetch` sends no such request. It gives no code, and its own texts may hold the value of a header. */
const rejections: readonly (readonly [RegExp, string])[] = [
  [/^bad port$/, 'bad port'],
  [/invalid header value|ByteString|Invalid character in header/i, 'invalid header value'],
  [/invalid header name|Header name must be/i, 'invalid header name'],
  [/URL that includes credentials/i, 'URL with credentials'],
]

/** The most specific code or name in a chain of causes, such as `ECONNREFUSED`. Error messages may hold secrets; codes do not. */
export function errorCode(error: unknown): string {
  let name = 'unknown error'
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    const { code, name: own, message, cause, errors } = error as Record<string, unknown>
    if (typeof code === 'string' && codeShape.test(code)) return code
    const rejected =
      own === 'TypeError' || own === 'Error'
        ? rejections.find(([text]) => text.test(String(message)))
        : undefined
    if (rejected) return rejected[1]
    if (typeof own === 'string' && codeShape.test(own) && (depth === 0 || own !== 'Error')) name = own
    error = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return name
}
