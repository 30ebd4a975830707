import type { UsageEntry } from '@tokenwell/token-service/plugin'

export interface DayOfUse {
  /** Such as `2026-01-31`, in UTC. */
  readonly day: string
  readonly tokens: number
}

export const usageDays = 30
const dayMs = 86_400_000

/** The last days up to today, the oldest first, including days without tokens. */
export function tokensByDay(usage: readonly UsageEntry[], nowMs: number): DayOfUse[] {
  const days = new Map<string, number>()
  for (let ago = usageDays - 1; ago >= 0; ago -= 1) days.set(dayOf(nowMs - ago * dayMs), 0)
  for (const { hourMs, outcome, requests } of usage) {
    if (outcome !== 'issued') continue
    const day = dayOf(hourMs)
    const known = days.get(day)
    if (known !== undefined) days.set(day, known + requests)
  }
  return Array.from(days, ([day, tokens]) => ({ day, tokens }))
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}
