import { Listr, type ListrDefaultRendererLogLevels, ListrLogger, ProcessOutput } from 'listr2'

export interface Progress {
  start(name: string): void
  /** @param share from 0 to 1; undefined where it is not told */
  hear(name: string, share: number | undefined): void
  end(name: string): void
  /** @param topic what the sentence is about: elsewhere than on a terminal each is noted once */
  note(topic: string, sentence: string): void
  /** Takes the progress off the screen. */
  close(): Promise<void>
}

/** Shows on a terminal how far things are and what is under way; elsewhere only the notes, line by line. */
export function startProgress(total: number, stream: NodeJS.WriteStream): Progress {
  if (!stream.isTTY) return plainProgress(stream)
  const underWay = new Map<string, string>() // by name, what is shown of it
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
            task.output = [...underWay.values(), note].filter(Boolean).join('\n')
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
      underWay.set(name, name)
      show()
    },
    hear(name, share) {
      if (share !== undefined) underWay.set(name, `${name} ${percent(share)}`)
      show()
    },
    end(name) {
      underWay.delete(name)
      done++
      note = ''
      show()
    },
    note(_topic, sentence) {
      note = sentence
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
    hear(name, share = 0) {
      const quarter = Math.floor(share * 4)
      if (quarter <= (quarters.get(name) ?? 0)) return
      quarters.set(name, quarter)
      stream.write(`${name}: ${percent(quarter / 4)} heard\n`)
    },
    end(name) {
      quarters.delete(name)
    },
    note(topic, sentence) {
      if (!noted.has(topic)) stream.write(`${sentence}\n`)
      noted.add(topic)
    },
    async close() {},
  }
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function bar(share: number): string {
  const filled = Math.round(share * 20)
  return '█'.repeat(filled) + '░'.repeat(20 - filled)
}
