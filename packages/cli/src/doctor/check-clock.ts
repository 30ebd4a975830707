import type { TokenResponse } from '@tokenwell/core'
import { formatDuration } from './durations.ts'
import type { ObservedRequest } from './observe-token-request.ts'
import { findingsOf, type Finding } from './finding.ts'
import type { RawResponse } from './check-response.ts'

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
