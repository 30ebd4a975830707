import { styleText } from 'node:util'
import { formatDuration } from './format-duration.ts'
import type { Timings } from './run-checks.ts'

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
