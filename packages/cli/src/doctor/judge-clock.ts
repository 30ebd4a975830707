import type { TokenResponse } from '@tokenwell/core'
import { duration } from './duration.ts'
import type { Exchange } from './exchange.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { RawAnswer } from './judge-answer.ts'

const clock = findingsOf('clock')
/** `Date` knows whole seconds only, and the answer was under way for some time. */
const toleranceMs = 5_000

export function judgeClock(exchange: Exchange, raw: RawAnswer, { issuedAt }: TokenResponse): Finding[] {
  const here = exchange.sentAt + (exchange.waitedMs ?? 0) / 2
  const findings = [judgeDate(exchange.headers?.get('date'), here)]
  const written = raw['issued_at']
  if (issuedAt === undefined) return findings
  const aheadMs = issuedAt.getTime() - here
  const unit = unitOf(Number(written))
  if (Math.abs(aheadMs) <= toleranceMs) {
    findings.push(clock.ok('issued_at', `issued_at is now, in ${unit} since 1970.`))
  } else {
    findings.push(
      clock.warning(
        'issued_at_differs',
        `issued_at, in ${unit} since 1970, is ${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's clock.`,
        aheadMs > 0
          ? 'One of the two clocks is wrong.'
          : 'One of the two clocks is wrong, or the service hands out a token again that it had issued before: it may end early.',
      ),
    )
  }
  return findings
}

function judgeDate(date: string | null | undefined, here: number): Finding {
  const there = Date.parse(date ?? '')
  if (Number.isNaN(there))
    return clock.note('no_date', 'The answer has no Date: the clocks could not be compared.')
  const aheadMs = here - (there + 500)
  if (Math.abs(aheadMs) <= toleranceMs)
    return clock.ok('clocks_agree', 'The clocks of the service and of this machine agree.')
  return clock.warning(
    'clock_skew',
    `This machine's clock is ${duration(Math.abs(aheadMs))} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's.`,
    'Tokenwell counts lifetimes without either, but certificates, logs and other clients do not: synchronise the clock (NTP).',
  )
}

function unitOf(value: number): string {
  return value < 1e11 ? 'seconds' : value < 1e14 ? 'milliseconds' : 'microseconds'
}
