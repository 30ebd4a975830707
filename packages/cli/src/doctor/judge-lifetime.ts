import type { AccessToken } from '@tokenwell/core'
import { duration } from './duration.ts'
import type { Exchange } from './exchange.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { RawAnswer } from './judge-answer.ts'

const lifetime = findingsOf('lifetime')

/** Whether `expires_in` can be meant as it is written, and what will be made of it. */
export function judgeLifetime(
  exchange: Exchange,
  raw: RawAnswer,
  { expiresAt }: AccessToken,
  unit: 'seconds' | 'milliseconds' = 'seconds',
): Finding[] {
  const lifetimeMs = Math.max(0, expiresAt.getTime() - exchange.sentAt)
  const written = raw['expires_in']
  const finding =
    exchange.lifetimeProblem === 'missing'
      ? explainMissing(written, lifetimeMs)
      : judgeUnit(Number(written), typeof written === 'string', lifetimeMs, unit)
  return [finding, describePlan(lifetimeMs)]
}

function explainMissing(written: unknown, assumedMs: number): Finding {
  const advice =
    'The service should send it (RFC 6749, section 5.1); if you know the lifetime, set defaultLifetimeMs in your program.'
  const assumed = `${duration(assumedMs)} are assumed.`
  return written === undefined
    ? lifetime.warning('lifetime_missing', `The answer has no expires_in; ${assumed}`, advice)
    : lifetime.warning('lifetime_unusable', `expires_in is no positive number; ${assumed}`, advice)
}

function judgeUnit(
  number: number,
  isText: boolean,
  lifetimeMs: number,
  unit: 'seconds' | 'milliseconds',
): Finding {
  const asSeconds = duration(number * 1000)
  const asMilliseconds = duration(number)
  if (looksLikeDate(number) || looksLikeDate(number / 1000)) {
    return lifetime.warning(
      'lifetime_is_a_date',
      `expires_in is ${number}: that looks like a point in time, not like a lifetime.`,
      'The service has to send the seconds from now on (RFC 6749, section 5.1).',
    )
  }
  // Over a day, and whole minutes if it is read as milliseconds.
  if (unit === 'seconds' && number > 86_400 && number % 60_000 === 0) {
    return lifetime.warning(
      'lifetime_in_milliseconds',
      `expires_in is ${number}: as seconds that is ${asSeconds}, as milliseconds ${asMilliseconds}.`,
      "If milliseconds are meant, say so: --expires-in milliseconds, or expiresInUnit: 'milliseconds' in a program.",
    )
  }
  if (unit === 'milliseconds' && number < 30_000) {
    return lifetime.warning(
      'lifetime_in_seconds',
      `expires_in is ${number}: as milliseconds that is ${asMilliseconds}, as seconds ${asSeconds}.`,
      'If seconds are meant, leave out --expires-in, or expiresInUnit.',
    )
  }
  if (lifetimeMs < number * (unit === 'seconds' ? 1000 : 1) - 60_000) {
    return lifetime.warning(
      'lifetime_too_long',
      `expires_in is ${number}; ${duration(lifetimeMs)} are made of it, for nothing lives longer.`,
      'The service should give tokens a shorter life: whoever steals one has it for as long.',
    )
  }
  return lifetime.ok(
    'lifetime',
    `expires_in is ${number} ${unit}, as ${isText ? 'text' : 'a number'}: ${duration(lifetimeMs)}.`,
  )
}

/** Seconds since 1970, between 2017 and 2049. */
function looksLikeDate(seconds: number): boolean {
  return seconds > 1.5e9 && seconds < 2.5e9
}

function describePlan(lifetimeMs: number): Finding {
  const { freshMs, usableMs } = planFor(lifetimeMs)
  return lifetime.note(
    'kept',
    `Tokenwell keeps this token for ${duration(usableMs)}, and renews it behind its use after about ${duration(freshMs)}.`,
  )
}

/** What a token provider does by default. */
export function planFor(lifetimeMs: number): { readonly freshMs: number; readonly usableMs: number } {
  return {
    freshMs: lifetimeMs - Math.min(300_000, lifetimeMs / 5),
    usableMs: lifetimeMs - Math.min(10_000, lifetimeMs / 20),
  }
}
