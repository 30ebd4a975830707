import { html, type SafeHtml } from '@remix-run/html-template'
import type { UsageEntry } from '../../storage/activity-storage.ts'

const hourMs = 3_600_000
const hours = 24
const height = 24

export function sparklineStart(nowMs: number): number {
  return nowMs - (nowMs % hourMs) - (hours - 1) * hourMs
}

/** The token requests of the last 24 hours, as one path: issued ones, and failures above them. */
export function sparkline(entries: readonly UsageEntry[], nowMs: number): SafeHtml {
  const startMs = sparklineStart(nowMs)
  const issued = Array.from({ length: hours }, () => 0)
  const failed = Array.from({ length: hours }, () => 0)
  for (const { hourMs: atMs, outcome, requests } of entries) {
    const hour = Math.floor((atMs - startMs) / hourMs)
    const bars = outcome === 'issued' ? issued : failed
    if (hour >= 0 && hour < hours) bars[hour] = (bars[hour] ?? 0) + requests
  }
  const sum = (bars: readonly number[]) => bars.reduce((total, each) => total + each, 0)
  const text = `${sum(issued).toLocaleString('en')} issued, ${sum(failed).toLocaleString('en')} failed`
  if (sum(issued) + sum(failed) === 0) return html`<span class="muted">none</span>`
  const top = Math.max(...issued.map((each, hour) => each + (failed[hour] ?? 0)))
  const scaled = (requests: number) =>
    requests === 0 ? 0 : Math.max(2, Math.round((requests / top) * height))
  const path = (bars: readonly number[], below: readonly number[] = []) =>
    bars
      .map((each, hour) => {
        const bar = scaled(each)
        return bar === 0 ? '' : `M${hour * 4} ${height - scaled(below[hour] ?? 0)}v-${bar}h3v${bar}z`
      })
      .join('')
  return html`<svg class="sparkline" viewBox="0 0 ${hours * 4} ${height}" role="img" aria-label="${text}">
    <title>${text}</title>
    <path class="issued" d="${path(issued)}" />
    <path class="failed" d="${path(failed, issued)}" />
  </svg>`
}
