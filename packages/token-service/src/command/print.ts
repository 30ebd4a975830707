import { Help } from 'commander'

/** Prints a message to standard error. On a terminal, its lines are broken between words. */
export function print(text: string): void {
  const { stderr } = process
  const wrapped = stderr.isTTY ? new Help().boxWrap(text, Math.min(stderr.columns || 80, 100)) : text
  stderr.write(`${wrapped}\n`)
}
