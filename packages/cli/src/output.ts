import { styleText } from 'node:util'
import type { Surroundings } from './surroundings.ts'

// What was asked for goes to standard output, everything else to standard error.

export function warn({ stderr }: Surroundings, sentence: string): void {
  stderr.write(`${styleText('yellow', 'warning:', { stream: stderr })} ${sentence}\n`)
}

export function say({ stderr }: Surroundings, sentence: string): void {
  stderr.write(`${sentence}\n`)
}
