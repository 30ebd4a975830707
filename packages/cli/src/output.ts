import { styleText } from 'node:util'
import type { CommandContext } from './command-context.ts'

// Results go to standard output, messages to standard error.

export function warn({ stderr }: CommandContext, sentence: string): void {
  stderr.write(`${styleText('yellow', 'warning:', { stream: stderr })} ${sentence}\n`)
}

export function info({ stderr }: CommandContext, sentence: string): void {
  stderr.write(`${sentence}\n`)
}
