import { styleText } from 'node:util'
import { Help } from 'commander'
import type { CheckResult } from './run-checks.ts'
import type { Finding } from './finding.ts'
import { describeTimeline, drawTimeline, type Timings } from './durations.ts'

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
  const columns = Math.min(stdout.columns || 80, 100)
  const indented = (text: string, first: string, indent: number): string => {
    const lines = new Help().boxWrap(text, Math.max(columns - indent, 20)).split('\n')
    return lines.map((line, index) => (index === 0 ? first : ' '.repeat(indent)) + line).join('\n')
  }
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
      stdout.write(`${indented(message, style(colour, `${sign} ${heading}`), 15)}\n`)
      if (advice !== undefined)
        stdout.write(`${indented(advice, `${' '.repeat(15)}${style(colour, '→')} `, 17)}\n`)
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
