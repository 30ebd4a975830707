import { html, type SafeHtml } from '@remix-run/html-template'
import prettyMilliseconds from 'pretty-ms'

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
/** How precisely a time is shown; the script has the same formats, for the time zone of the reader. */
const formats = {
  minute: format,
  day: new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }),
  date: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
  hour: new Intl.DateTimeFormat('en-GB', { timeStyle: 'short', timeZone: 'UTC' }),
  moment: new Intl.DateTimeFormat('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: 'UTC',
  }),
}
type Precision = keyof typeof formats

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const dayMs = 86_400_000
const units = [
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** From then on, a date says more than a number of days. */
const longMs = 60 * dayMs

/** A database that was changed by hand may hold any number. */
const isTime = (ms: number) => !Number.isNaN(new Date(ms).getTime())

const utc = (ms: number) => `${format.format(ms)} UTC`

/** A date and a time: in UTC, or as the script shows it, in the time zone of the reader. */
export function time(ms: number): SafeHtml {
  if (!isTime(ms)) return absent('unreadable')
  return element(ms, utc(ms), 'minute')
}

/** A part of it: that of UTC, or as the script shows it. */
export function localTime(ms: number, precision: Precision): SafeHtml {
  if (!isTime(ms)) return absent('unreadable')
  return element(ms, formats[precision].format(ms), precision)
}

/** Such as "2 hours ago" or "in 3 days", or else the date; the exact time is its title. */
export function relativeTime(ms: number, nowMs: number): SafeHtml {
  const distance = ms - nowMs
  if (Math.abs(distance) > longMs) return localTime(ms, 'day')
  const [unit, size] = units.find(([, each]) => Math.abs(distance) >= each) ?? []
  const now = distance > 0 ? 'in less than a minute' : 'just now'
  return element(ms, unit === undefined ? now : relative.format(Math.trunc(distance / size), unit))
}

/** Such as "2 hours", of what goes on since then, or `undefined` in its first minute; the exact time is its title. */
export function timeSince(
  ms: number,
  nowMs: number,
  unitDisplay: 'long' | 'short' = 'long',
): SafeHtml | undefined {
  const [unit, size] = units.find(([, each]) => nowMs - ms >= each) ?? []
  if (unit === undefined) return undefined
  const count = Math.trunc((nowMs - ms) / size)
  return element(ms, count.toLocaleString('en', { style: 'unit', unit, unitDisplay }))
}

/** `local`: how precisely the script shows it in the time zone of the reader. */
function element(ms: number, text: string, local?: Precision): SafeHtml {
  return html`<time
    datetime="${new Date(ms).toISOString()}"
    title="${utc(ms)}"
    ${local === undefined ? '' : html`data-local="${local}"`}
    >${text}</time
  >`
}

/** Whether the name, such as `Europe/Zurich`, is that of a time zone. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch {
    return false
  }
}

/** When a day begins in a time zone, or in UTC. @param dayMs when it begins in UTC */
export function startOfDay(dayMs: number, zone: string): number {
  if (zone === '') return dayMs
  const format = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' })
  const shownAt = (ms: number) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`)
  // The offset may change during the day: that of its beginning counts.
  const guess = dayMs - (shownAt(dayMs) - dayMs)
  return guess - (shownAt(guess) - dayMs)
}

/** Such as "1 hour 30 minutes". */
export function duration(seconds: number): string {
  return prettyMilliseconds(seconds * 1000, { verbose: true })
}

/** When applications, resource servers, secrets and keys were last used, by ID. */
export type LastUses = ReadonlyMap<string, number>

export function lastUse(id: string, lastUses: LastUses, nowMs: number): SafeHtml {
  return relativeTimeOrNever(lastUses.get(id), nowMs)
}

export function relativeTimeOrNever(ms: number | undefined, nowMs: number): SafeHtml {
  return ms === undefined ? absent('never') : relativeTime(ms, nowMs)
}

/** The word that stands where a value could be. */
export function absent(word: 'none' | 'never' | 'no owner' | 'unreadable' = 'none'): SafeHtml {
  return html`<span class="muted">${word}</span>`
}
