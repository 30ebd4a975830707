import { styleText } from 'node:util'
import { hanging } from '../output.ts'
import { formatDuration, type Finding, type Timings } from './finding.ts'
import type { CheckResult } from './run-checks.ts'

/** Prints findings as they are found. */
export interface Reporter {
  begin(url: URL): void
  add(found: CheckResult): void
  end(): void
}

type Level = Finding['level']

const marks: Readonly<Record<Level, { sign: string; style: 'green' | 'dim' | 'yellow' | 'red' }>> = {
  ok: { sign: '✓', style: 'green' },
  note: { sign: '·', style: 'dim' },
  warning: { sign: '!', style: 'yellow' },
  problem: { sign: '✗', style: 'red' },
}

export function createReporter(stdout: NodeJS.WriteStream, json: boolean): Reporter {
  if (json) return jsonReporter(stdout)
  return stdout.isTTY ? drawingReporter(stdout) : plainReporter(stdout)
}

function drawingReporter(stdout: NodeJS.WriteStream): Reporter {
  const levels: Level[] = []
  const style = (format: Parameters<typeof styleText>[0], text: string) =>
    styleText(format, text, { stream: stdout })
  return {
    begin: (url) => void stdout.write(`${style('bold', withoutQuery(url))}\n\n`),
    add(found) {
      if ('timings' in found) {
        stdout.write(`${drawTimeline(found.timings, stdout).join('\n')}\n`)
        return
      }
      const { check, level, message, advice } = found
      levels.push(level)
      const { sign, style: colour } = marks[level]
      const heading = check.padEnd(13)
      stdout.write(`${hanging(message, style(colour, `${sign} ${heading}`), 15, stdout)}\n`)
      if (advice !== undefined)
        stdout.write(`${hanging(advice, `${' '.repeat(15)}${style(colour, '→')} `, 17, stdout)}\n`)
    },
    end: () => void stdout.write(`\n${style('bold', summary(levels))}\n`),
  }
}

/** One line per finding, for `grep` and logs. */
function plainReporter(stdout: NodeJS.WriteStream): Reporter {
  const levels: Level[] = []
  return {
    begin: (url) => void stdout.write(`${withoutQuery(url)}\n`),
    add(found) {
      if ('timings' in found) {
        stdout.write(`timings: ${describeTimeline(found.timings)}\n`)
        return
      }
      const { check, level, code, message, advice } = found
      levels.push(level)
      stdout.write(`${level}: ${check}: ${[message, advice].filter(Boolean).join(' ')} [${code}]\n`)
    },
    end: () => void stdout.write(`${summary(levels)}\n`),
  }
}

function jsonReporter(stdout: NodeJS.WriteStream): Reporter {
  let endpoint = ''
  let timings: Timings = {}
  const findings: Finding[] = []
  return {
    begin: (url) => void (endpoint = withoutQuery(url)),
    add(found) {
      if ('timings' in found) timings = rounded(found.timings)
      else findings.push(found)
    },
    end: () => void stdout.write(`${JSON.stringify({ endpoint, timings, findings }, undefined, 2)}\n`),
  }
}

/** To tenths of a millisecond. */
function rounded(timings: Timings): Timings {
  const entries = Object.entries(timings).map(([part, ms]) => [part, ms && Math.round(ms * 10) / 10])
  return Object.fromEntries(entries) as Timings
}

function withoutQuery({ origin, pathname }: URL): string {
  return origin + pathname
}

function summary(levels: readonly Level[]): string {
  const count = (level: Level, noun: string): string[] => {
    const number = levels.filter((each) => each === level).length
    return number === 0 ? [] : [`${number} ${noun}${number === 1 ? '' : 's'}`]
  }
  const counts = [...count('problem', 'problem'), ...count('warning', 'warning')]
  return counts.length === 0 ? 'No problems found.' : `${counts.join(', ')}.`
}

const names = { lookup: 'name lookup', connection: 'connection', tls: 'TLS', response: 'response' } as const
const timelineWidth = 40

/** One bar for each part of the token request; each starts where the previous one ends. */
function drawTimeline(timings: Timings, stream: NodeJS.WriteStream): string[] {
  const parts = Object.entries(names).flatMap(([part, name]) => {
    const ms = timings[part as keyof Timings]
    return ms === undefined ? [] : [{ name, ms }]
  })
  const totalMs = parts.reduce((sum, { ms }) => sum + ms, 0)
  let passedMs = 0
  return parts.map(({ name, ms }) => {
    const from = Math.round((passedMs / totalMs) * timelineWidth)
    passedMs += ms
    const length = Math.max(1, Math.round((passedMs / totalMs) * timelineWidth) - from)
    const bar = `${' '.repeat(Math.min(from, timelineWidth - 1))}${styleText('cyan', '━'.repeat(length), { stream })}`
    return `    ${name.padEnd(12)} ${bar} ${formatDuration(ms)}`
  })
}

/** The same in one line. */
function describeTimeline(timings: Timings): string {
  const parts = Object.entries(names).flatMap(([part, name]) => {
    const ms = timings[part as keyof Timings]
    return ms === undefined ? [] : [`${name} ${formatDuration(ms)}`]
  })
  return parts.join(', ')
}
