import { Listr, type ListrDefaultRendererLogLevels, ListrLogger, ProcessOutput } from 'listr2'
import { styleText } from 'node:util'
import type { Outcome } from './transcribe-with-retries.ts'

export interface Progress {
  start(name: string): void
  /** @param fraction from 0 to 1, undefined if it is unknown */
  update(name: string, fraction: number | undefined): void
  end(name: string): void
  /** @param topic outside a terminal, only the first message of each topic is printed */
  note(topic: string, message: string): void
  /** Removes the progress from the terminal. */
  close(): Promise<void>
}

/** Shows the progress of all recordings on a terminal; otherwise prints notes and quarters, line by line. */
export function startProgress(total: number, stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return plainProgress(stream)
  const active = new Map<string, string>() // name to text
  let done = 0
  let note = ''
  let show = () => {}
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))

  const list = new Listr(
    [
      {
        title: '',
        task: (_context, task) => {
          show = () => {
            task.title = `${bar(done / total)} ${done} of ${total}`
            task.output = [...active.values(), note].filter(Boolean).join('\n')
          }
          show()
          return ended
        },
        rendererOptions: { outputBar: Number.POSITIVE_INFINITY },
      },
    ],
    {
      rendererOptions: {
        clearOutput: true,
        formatOutput: 'truncate',
        logger: new ListrLogger<ListrDefaultRendererLogLevels>({
          processOutput: new ProcessOutput(stream, stream),
        }),
      },
    },
  )
  const shown = list.run()

  return {
    start(name) {
      active.set(name, name)
      show()
    },
    update(name, fraction) {
      if (fraction !== undefined) active.set(name, `${name} ${percent(fraction)}`)
      show()
    },
    end(name) {
      active.delete(name)
      done++
      note = ''
      show()
    },
    note(_topic, message) {
      note = message
      show()
    },
    async close() {
      end()
      await shown
    },
  }
}

function plainProgress(stream: NodeJS.WriteStream): Progress {
  const noted = new Set<string>()
  const quarters = new Map<string, number>()
  return {
    start() {},
    update(name, fraction = 0) {
      const quarter = Math.floor(fraction * 4)
      if (quarter <= (quarters.get(name) ?? 0)) return
      quarters.set(name, quarter)
      stream.write(`${name}: ${percent(quarter / 4)}\n`)
    },
    end(name) {
      quarters.delete(name)
    },
    note(topic, message) {
      if (!noted.has(topic)) stream.write(`${message}\n`)
      noted.add(topic)
    },
    async close() {},
  }
}

function percent(fraction: number): string {
  return `${Math.round(fraction * 100)}%`
}

function bar(fraction: number): string {
  const filled = Math.round(fraction * 20)
  return '█'.repeat(filled) + '░'.repeat(20 - filled)
}

const { stdout, stderr } = process

/** Prints text and JSON to standard output, errors to standard error. */
export function printOutcome(outcome: Outcome, json: boolean): void {
  const { name } = outcome
  if ('error' in outcome) {
    printError(outcome.error)
    if (json) stdout.write(`${JSON.stringify({ file: name, error: outcome.error })}\n`)
  } else if (json) {
    stdout.write(`${JSON.stringify({ file: name, ...outcome.transcript })}\n`)
  } else {
    stdout.write(`${name}: ${outcome.transcript.text}\n`)
    const { uncertain, warnings = [] } = outcome.transcript
    if (uncertain) stderr.write(`${name}: Part of the recording sounds unlike what was expected.\n`)
    for (const { message } of warnings) stderr.write(`${name}: ${message}\n`)
  }
}

export function printError(message: string): void {
  stderr.write(`${styleText('red', message, { stream: stderr })}\n`)
}

export function plural(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
