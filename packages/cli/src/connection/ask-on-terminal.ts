import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { Interrupted } from '../interrupted.ts'
import type { Surroundings } from '../surroundings.ts'

type Question = Pick<Surroundings, 'stdin' | 'stderr'> & { readonly hidden: boolean }

/**
 * Asks on standard error, since standard output may be a pipe; undefined where there is no terminal.
 *
 * @throws {Interrupted} on Ctrl-C and Ctrl-D
 */
export async function askOnTerminal(
  question: string,
  { stdin, stderr, hidden }: Question,
): Promise<string | undefined> {
  if (!stdin.isTTY || !stderr.isTTY) return undefined
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: stdin, output: hidden ? nowhere : stderr, terminal: true })
  // Only now, when nothing that is typed is echoed any more.
  if (hidden) stderr.write(question)
  lines.setPrompt(question)
  lines.prompt()
  try {
    return await new Promise((resolve, reject) => {
      lines.once('line', resolve)
      for (const event of ['SIGINT', 'close']) lines.once(event, () => reject(new Interrupted()))
    })
  } finally {
    lines.close()
    if (hidden) stderr.write('\n')
  }
}
