import type { AccessToken } from '@tokenwell/core'
import { formatDuration } from './durations.ts'
import type { ObservedRequest } from './observe-token-request.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { RawResponse } from './check-response.ts'

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
