import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { InterruptedError } from '../interrupted-error.ts'
import type { CommandContext } from '../command-context.ts'

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
