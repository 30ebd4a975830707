const codeShape = /^[\w.-]{1,80}$/

/**
 * Failures of `fetch` that have no code, by their texts: a request that is not sent, whose text may hold the value of a header,
 * and connections of Deno and Cloudflare Workers, in the codes of Node.
 */
const codeless: readonly (readonly [RegExp, string])[] = [
  [/^bad port$/, 'bad port'],
  [/invalid header value|ByteString|Invalid character in header/i, 'invalid header value'],
  [/invalid header name|Header name must be/i, 'invalid header name'],
  [/URL that includes credentials/i, 'URL with credentials'],
  [/dns error|DNS lookup failed/i, 'ENOTFOUND'],
  [/connection refused/i, 'ECONNREFUSED'],
  [/connection closed before|connection reset|network connection lost/i, 'ECONNRESET'],
  [/network is unreachable/i, 'ENETUNREACH'],
  [/invalid peer certificate: Expired/, 'CERT_HAS_EXPIRED'],
  [/invalid peer certificate: (?:certificate )?not ?valid ?for ?name/i, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  [/invalid peer certificate/i, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  [/received corrupt message of type|TLS handshake/i, 'ERR_SSL_WRONG_VERSION_NUMBER'],
]

/** The most specific code or name in a chain of causes, such as `ECONNREFUSED`. Error messages may hold secrets; codes do not. */
export function errorCode(error: unknown): string {
  let name = 'unknown error'
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    const { code, name: own, message, cause, errors } = error as Record<string, unknown>
    if (typeof code === 'string' && codeShape.test(code)) return code
    const rejected =
      own === 'TypeError' || own === 'Error'
        ? codeless.find(([text]) => text.test(String(message)))
        : undefined
    if (rejected) return rejected[1]
    if (typeof own === 'string' && codeShape.test(own) && (depth === 0 || own !== 'Error')) name = own
    error = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  return name
}

/**
 * What an error without a code says, such as the mistake of a mock that a test replaced `fetch` with. Undefined if there is a code,
 * and for texts about a header, which may quote its value. It may hold whatever was sent: redact it.
 */
export function messageWithoutCode(error: unknown): string | undefined {
  const found = errorCode(error)
  let text: string | undefined
  for (let depth = 0; depth < 5 && typeof error === 'object' && error !== null; depth++) {
    const { code, message, cause, errors } = error as Record<string, unknown>
    if (code === found) return undefined
    if (typeof message === 'string' && message !== '') text = message
    error = cause ?? (Array.isArray(errors) ? errors[0] : undefined)
  }
  const isKnown = codeless.some(([, code]) => code === found)
  return isKnown || text === undefined || /header/i.test(text) ? undefined : text
}
