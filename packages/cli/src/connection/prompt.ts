import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { InterruptedError } from '../errors.ts'
import type { CommandContext } from '../output.ts'

type Terminal = Pick<CommandContext, 'stdin' | 'stderr'>

/** Whether somebody can be asked. */
export function isInteractive({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY && stderr.isTTY
}

/**
 * Prompts on standard error, because standard output may be a pipe.
 *
 * @throws {InterruptedError} on Ctrl+C and Ctrl+D
 */
export async function prompt(
  question: string,
  { stdin, stderr }: Terminal,
  { hidden }: { readonly hidden: boolean },
): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: hidden ? silent : stderr, terminal: true })
  // Only now, because from here on typed characters are not echoed.
  if (hidden) stderr.write(question)
  lines.setPrompt(question)
  lines.prompt()
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve)
      for (const event of ['SIGINT', 'close']) lines.once(event, () => reject(new InterruptedError()))
    })
  } finally {
    lines.close()
    if (hidden) stderr.write('\n')
  }
}

/** Undefined for empty input. */
export async function readFirstLine(input: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input })) return line || undefined
  return undefined
}
