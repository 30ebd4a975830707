import { html, type SafeHtml } from '@remix-run/html-template'
import prettyMilliseconds from 'pretty-ms'

const format = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

function timeText(ms: number): string {
  return `${format.format(ms)} UTC`
}

export function time(ms: number): SafeHtml {
  return html`<time datetime="${new Date(ms).toISOString()}">${timeText(ms)}</time>`
}

/** Such as "2 hours ago" or "in 3 days"; the exact time is its title. */
export function relativeTime(ms: number, nowMs: number): SafeHtml {
  const distance = ms - nowMs
  const [unit, size] = units.find(([, each]) => Math.abs(distance) >= each) ?? []
  const text =
    unit === undefined
      ? distance > 0
        ? 'in less than a minute'
        : 'just now'
      : relative.format(Math.trunc(distance / size), unit)
  return html`<time datetime="${new Date(ms).toISOString()}" title="${timeText(ms)}">${text}</time>`
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
export function absent(word: 'none' | 'never' | 'no owner' = 'none'): SafeHtml {
  return html`<span class="muted">${word}</span>`
}
