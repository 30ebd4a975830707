import type { TokenRequestOutcome, UsageEntry } from '../../storage/activity-storage.ts'

const hourMs = 3_600_000

/** What the chart can show: its name, how long ago it starts, and the time that one bar represents. */
export const usageRanges = [
  { id: '24h', label: '24 hours', bars: 24, barMs: hourMs },
  { id: '7d', label: '7 days', bars: 28, barMs: 6 * hourMs },
  { id: '30d', label: '30 days', bars: 30, barMs: 24 * hourMs },
] as const

export type UsageRange = (typeof usageRanges)[number]

export interface UsageBar {
  readonly fromMs: number
  readonly issued: number
  readonly failed: number
}

export interface Usage {
  readonly range: UsageRange
  /** The oldest first; the last one contains the present. */
  readonly bars: readonly UsageBar[]
  readonly issued: number
  readonly failed: number
  /** The most frequent first. */
  readonly failures: readonly (readonly [TokenRequestOutcome, number])[]
}

export function usageStart({ bars, barMs }: UsageRange, nowMs: number): number {
  return nowMs - (nowMs % barMs) - (bars - 1) * barMs
}

export function summarizeUsage(
  entries: readonly Omit<UsageEntry, 'clientId'>[],
  range: UsageRange,
  nowMs: number,
): Usage {
  const startMs = usageStart(range, nowMs)
  const bars = Array.from({ length: range.bars }, (_, index) => ({
    fromMs: startMs + index * range.barMs,
    issued: 0,
    failed: 0,
  }))
  const failures = new Map<TokenRequestOutcome, number>()
  for (const { hourMs: atMs, outcome, requests } of entries) {
    const bar = bars[Math.floor((atMs - startMs) / range.barMs)]
    if (!bar) continue
    if (outcome === 'issued') {
      bar.issued += requests
    } else {
      bar.failed += requests
      failures.set(outcome, (failures.get(outcome) ?? 0) + requests)
    }
  }
  const sum = (part: 'issued' | 'failed') => bars.reduce((total, bar) => total + bar[part], 0)
  return {
    range,
    bars,
    issued: sum('issued'),
    failed: sum('failed'),
    failures: [...failures].sort(([, a], [, b]) => b - a),
  }
}

/** The smallest round number that is at least this one: 1, 2, 4, 10, 20, 40, … It can be halved from 2 on. */
export function roundUp(count: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(count, 1)))
  return [1, 2, 4, 10].map((step) => step * power).find((round) => round >= count) ?? count
}
