import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { InterruptedError } from '../command-errors.ts'
import type { CommandContext } from '../output.ts'

type PromptOptions = Pick<CommandContext, 'stdin' | 'stderr'> & { readonly hidden: boolean }

/**
 * Prompts on standard error, because standard output may be a pipe; undefined without a terminal.
 *
 * @throws {InterruptedError} on Ctrl+C and Ctrl+D
 */
export async function prompt(
  question: string,
  { stdin, stderr, hidden }: PromptOptions,
): Promise<string | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined
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
