/** Headers of a response: a `Headers` object, or a record whose names may be in any case. */
export type ResponseHeaders = Headers | Readonly<Record<string, string | undefined>>

/** The value of one response header; `name` in lower case. For authors of adapters and bindings. */
export function headerValue(headers: ResponseHeaders, name: string): string | undefined {
  if (typeof headers.get === 'function') return (headers as Headers).get(name) ?? undefined
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name && value !== undefined && value !== null) return String(value)
  }
  return undefined
}

/**
 * `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110, section 10.2.3). A date is compared
 * with the response's own `Date`, so that the two machines' clocks need not agree.
 */
export function retryAfter(headers: ResponseHeaders): number | undefined {
  const value = headerValue(headers, 'retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000
  const until = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  const from = Date.parse(headerValue(headers, 'date') ?? '')
  const wait = until - (Number.isNaN(from) ? Date.now() : from)
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
