import { styleText } from 'node:util'

/** Duration of each part, in milliseconds. */
export interface Timings {
  readonly lookup?: number | undefined
  readonly connection?: number | undefined
  readonly tls?: number | undefined
  readonly response?: number | undefined
}

const names = { lookup: 'name lookup', connection: 'connection', tls: 'TLS', response: 'response' } as const
const width = 40

/** One bar for each part of the token request; each starts where the previous one ends. */
export function drawTimeline(timings: Timings, stream: NodeJS.WriteStream): string[] {
  const parts = Object.entries(names).flatMap(([part, name]) => {
    const ms = timings[part as keyof Timings]
    return ms === undefined ? [] : [{ name, ms }]
  })
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0)
  let passedMs = 0
  return parts.map(({ name, ms }) => {
    const from = Math.round((passedMs / totalMs) * width)
    passedMs += ms
    const length = Math.max(1, Math.round((passedMs / totalMs) * width) - from)
    const bar = `${' '.repeat(Math.min(from, width - 1))}${styleText('cyan', '━'.repeat(length), { stream })}`
    return `    ${name.padEnd(12)} ${bar} ${formatDuration(ms)}`
  })
}

/** The same in one line. */
export function describeTimeline(timings: Timings): string {
  const parts = Object.entries(names).flatMap(([part, name]) => {
    const ms = timings[part as keyof Timings]
    return ms === undefined ? [] : [`${name} ${formatDuration(ms)}`]
  })
  return parts.join(', ')
}

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
