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

const resetHeaders = ['x-ratelimit-reset', 'x-rate-limit-reset', 'ratelimit-reset']

/**
 * When a rate limit is over, in milliseconds from the response: the `RateLimit` field (draft-ietf-httpapi-ratelimit-headers) or
 * its predecessors, in seconds or as a moment. Such headers also come with responses that are not about a rate limit.
 */
export function rateLimitReset(headers: ResponseHeaders): number | undefined {
  const exhausted = (headerValue(headers, 'ratelimit') ?? '')
    .split(',')
    .filter((policy) => !/;\s*r=0*[1-9]/.test(policy))
    .flatMap((policy) => /(?:;\s*t|^\s*reset)=(\d{1,9})/.exec(policy)?.[1] ?? [])
  if (exhausted.length > 0) return Math.max(...exhausted.map(Number)) * 1000
  const value = resetHeaders.map((name) => headerValue(headers, name)?.trim()).find(Boolean)
  if (value === undefined) return undefined
  const number = /^\d{1,16}(?:\.\d+)?$/.test(value) ? Number(value) : undefined
  if (number !== undefined && number < 1e9) return number * 1000
  const untilMs = number === undefined ? readDate(value) : number < 1e11 ? number * 1000 : number
  return timeUntil(untilMs, headers)
}

/**
 * `Retry-After` in milliseconds: seconds or an HTTP date (RFC 9110, section 10.2.3). A date is compared
 * with the response's own `Date`, so that the two machines' clocks need not agree.
 */
export function retryAfter(headers: ResponseHeaders): number | undefined {
  const value = headerValue(headers, 'retry-after')?.trim()
  if (!value) return undefined
  if (/^\d{1,15}$/.test(value)) return Number(value) * 1000
  return timeUntil(readDate(value), headers)
}

function readDate(value: string): number {
  return /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
}

function timeUntil(untilMs: number, headers: ResponseHeaders): number | undefined {
  const from = Date.parse(headerValue(headers, 'date') ?? '')
  const wait = untilMs - (Number.isNaN(from) ? Date.now() : from)
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}
