import { headerValue, type ResponseHeaders } from './headers.ts'

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
