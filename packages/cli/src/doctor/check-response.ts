import type { AccessToken, TokenResponse } from '@tokenwell/core'
import type { Connection } from '../connection/resolve.ts'
import { findingsOf, formatDuration, type Finding } from './finding.ts'
import type { ObservedRequest } from './observe-token-request.ts'

const response = findingsOf('response')
const slowMs = 1000

/** The members of the token response as they were received. */
export type RawResponse = Readonly<Record<string, unknown>>

/** Checks the format, the duration, the caching headers and the scope of a token response. */
export function checkResponse(
  observed: ObservedRequest,
  raw: RawResponse,
  token: AccessToken,
  { scope }: Connection,
): Finding[] {
  const { headers, durationMs } = observed
  const findings = [describeForm(raw, observed)]
  if (durationMs > slowMs) {
    findings.push(
      response.warning(
        'slow',
        `The response took ${formatDuration(durationMs)}.`,
        'Only the first callers wait for it; later tokens are refreshed in the background.',
      ),
    )
  }
  const type = headers?.get('content-type') ?? 'missing'
  if (!/json/i.test(type)) {
    findings.push(
      response.warning(
        'content_type',
        `The response is JSON, but its content type is ${type}.`,
        'Other clients may reject it: the service should send application/json (RFC 6749, section 5.1).',
      ),
    )
  }
  findings.push(checkCaching(headers?.get('cache-control')))
  const granted = token.response.scope
  const missing = [scope ?? []]
    .flat()
    .join(' ')
    .split(' ')
    .filter((name) => name && !granted.includes(name))
  if (granted.length > 0 && missing.length > 0) {
    findings.push(
      response.warning(
        'scope_narrowed',
        `The token lacks requested scopes: ${missing.join(', ')}.`,
        'Check which scopes the application is allowed to request.',
      ),
    )
  }
  return findings
}

function describeForm(raw: RawResponse, { status, durationMs }: ObservedRequest): Finding {
  const has = (...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(raw, name))
  const format = has('api_product_list', 'api_product_list_json')
    ? "the platform's format with products"
    : has('level', 'refresh_count')
      ? "the platform's format with level and refresh token"
      : 'the format of RFC 6749'
  return response.ok(
    'token',
    `The endpoint returned a token (status ${status}, ${formatDuration(durationMs)}) in ${format}.`,
  )
}

/** RFC 6749, section 5.1. */
function checkCaching(header: string | null | undefined): Finding {
  if (/\bno-store\b/i.test(header ?? ''))
    return response.ok('no_store', 'The response forbids caching (no-store).')
  return response.warning(
    'no_store_missing',
    `The response lacks no-store (Cache-Control: ${header || 'missing'}): an intermediate cache may store the token and return it to other clients.`,
    'The service should send Cache-Control: no-store with tokens.',
  )
}

const lifetime = findingsOf('lifetime')

/** Checks whether the value of `expires_in` is plausible, and reports how long the token would be cached. */
export function checkLifetime(
  observed: ObservedRequest,
  raw: RawResponse,
  { expiresAt }: AccessToken,
  unit: 'seconds' | 'milliseconds' = 'seconds',
): Finding[] {
  const lifetimeMs = Math.max(0, expiresAt.getTime() - observed.sentAt)
  const written = raw['expires_in']
  const finding =
    observed.lifetimeProblem === 'missing'
      ? explainMissing(written, lifetimeMs)
      : checkUnit(Number(written), typeof written === 'string', lifetimeMs, unit)
  return [finding, describePlan(lifetimeMs)]
}

function explainMissing(written: unknown, assumedMs: number): Finding {
  const advice = (what: string) =>
    `The service should send ${what} (RFC 6749, section 5.1). If you know the lifetime, set defaultLifetimeMs in your program.`
  const assumed = `a lifetime of ${formatDuration(assumedMs)} is assumed.`
  return written === undefined
    ? lifetime.warning('lifetime_missing', `The response has no expires_in; ${assumed}`, advice('it'))
    : lifetime.warning(
        'lifetime_invalid',
        `expires_in is not a number; ${assumed}`,
        advice('the lifetime in seconds, as a number'),
      )
}

function checkUnit(
  number: number,
  isText: boolean,
  lifetimeMs: number,
  unit: 'seconds' | 'milliseconds',
): Finding {
  if (number <= 0) {
    return lifetime.warning(
      'lifetime_expired',
      `expires_in is ${number}: the token has expired already. Providers use it for ${formatDuration(lifetimeMs)}.`,
      'The service should issue tokens that are valid for longer.',
    )
  }
  const asSeconds = formatDuration(number * 1000)
  const asMilliseconds = formatDuration(number)
  if (looksLikeDate(number) || looksLikeDate(number / 1000)) {
    return lifetime.warning(
      'lifetime_is_a_date',
      `expires_in is ${number}, which looks like a timestamp, not a lifetime.`,
      'The service should send the lifetime in seconds (RFC 6749, section 5.1).',
    )
  }
  // More than a day as seconds, and whole minutes as milliseconds.
  if (unit === 'seconds' && number > 86_400 && number % 60_000 === 0) {
    return lifetime.warning(
      'lifetime_in_milliseconds',
      `expires_in is ${number}: ${asSeconds} if the unit is seconds, ${asMilliseconds} if it is milliseconds.`,
      "If the service sends milliseconds, pass --expires-in milliseconds, or expiresInUnit: 'milliseconds' in a program.",
    )
  }
  if (unit === 'milliseconds' && number < 30_000) {
    return lifetime.warning(
      'lifetime_in_seconds',
      `expires_in is ${number}: ${asMilliseconds} if the unit is milliseconds, ${asSeconds} if it is seconds.`,
      'If the service sends seconds, omit --expires-in or expiresInUnit.',
    )
  }
  if (lifetimeMs < number * (unit === 'seconds' ? 1000 : 1) - 60_000) {
    return lifetime.warning(
      'lifetime_too_long',
      `expires_in is ${number}; Tokenwell limits it to ${formatDuration(lifetimeMs)}.`,
      'The service should issue tokens with a shorter lifetime: a stolen token stays valid until it expires.',
    )
  }
  return lifetime.ok(
    'lifetime',
    `expires_in is ${number} ${unit}, as ${isText ? 'a string' : 'a number'}: ${formatDuration(lifetimeMs)}.`,
  )
}

/** Seconds since 1970, between 2017 and 2049. */
function looksLikeDate(seconds: number): boolean {
  return seconds > 1.5e9 && seconds < 2.5e9
}

function describePlan(lifetimeMs: number): Finding {
  const { freshMs, usableMs } = planFor(lifetimeMs)
  return lifetime.note(
    'cached',
    `Providers cache this token for ${formatDuration(usableMs)}, and refresh it in the background after about ${formatDuration(freshMs)}.`,
  )
}

/** When a token provider with default options refreshes a token, and when it stops using it. */
export function planFor(lifetimeMs: number): { readonly freshMs: number; readonly usableMs: number } {
  return {
    freshMs: Math.max(1_000, lifetimeMs - Math.min(300_000, lifetimeMs / 5)),
    usableMs: Math.max(1_000, lifetimeMs - Math.min(10_000, lifetimeMs / 20)),
  }
}

const clock = findingsOf('clock')
/** `Date` has whole seconds only, and the response took some time to arrive. */
const toleranceMs = 5_000

export function checkClock(
  observed: ObservedRequest,
  raw: RawResponse,
  { issuedAt }: TokenResponse,
): Finding[] {
  const here = observed.sentAt + (observed.waitedMs ?? 0) / 2
  const findings = [checkDate(observed.headers?.get('date'), here)]
  const written = raw['issued_at']
  if (issuedAt === undefined) return findings
  const aheadMs = issuedAt.getTime() - here
  const unit = unitOf(Number(written))
  if (Math.abs(aheadMs) <= toleranceMs) {
    findings.push(clock.ok('issued_at', `issued_at is the current time, in ${unit} since 1970.`))
  } else {
    findings.push(
      clock.warning(
        'issued_at_differs',
        `issued_at, in ${unit} since 1970, is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's clock.`,
        aheadMs > 0
          ? 'One of the two clocks is wrong.'
          : 'One of the two clocks is wrong, or the service returned a token that it had issued earlier, which may expire early.',
      ),
    )
  }
  return findings
}

function checkDate(date: string | null | undefined, here: number): Finding {
  const there = Date.parse(date ?? '')
  if (Number.isNaN(there))
    return clock.note('no_date', 'The response has no Date header, so the clocks could not be compared.')
  const aheadMs = here - (there + 500)
  if (Math.abs(aheadMs) <= toleranceMs)
    return clock.ok('clocks_agree', 'The clocks of the service and of this machine agree.')
  return clock.warning(
    'clock_skew',
    `This machine's clock is ${formatDuration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's.`,
    "Tokenwell measures lifetimes independently of both clocks, but certificates, logs and other clients depend on them. Synchronise this machine's clock (NTP).",
  )
}

function unitOf(value: number): string {
  return value < 1e11 ? 'seconds' : value < 1e14 ? 'milliseconds' : 'microseconds'
}
