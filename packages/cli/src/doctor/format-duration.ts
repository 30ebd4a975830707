const units = [
  ['day', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
] as const

/** Uses the two largest units: `59 min 50 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`
  let rest = Math.round(ms / 1000) * 1000
  const parts: string[] = []
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count} ${unit}${unit === 'day' && count > 1 ? 's' : ''}`)
  }
  return parts.slice(0, 2).join(' ')
}
