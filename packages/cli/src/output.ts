import { styleText } from 'node:util'

/** Where a command writes: what was asked for to `stdout`, everything else to `stderr`. */
export interface Output {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
}

export function warn({ stderr }: Output, sentence: string): void {
  stderr.write(`${styleText('yellow', 'warning:', { stream: stderr })} ${sentence}\n`)
}

export function say({ stderr }: Output, sentence: string): void {
  stderr.write(`${sentence}\n`)
}
