import { styleText } from 'node:util'

// Results go to standard output, messages to standard error.

export function warn({ stderr }: CommandContext, sentence: string): void {
  stderr.write(`${styleText('yellow', 'warning:', { stream: stderr })} ${printable(sentence)}\n`)
}

export function info({ stderr }: CommandContext, sentence: string): void {
  stderr.write(`${printable(sentence)}\n`)
}

/** Control characters, such as those in the name of a file, would change what a terminal shows. */
export function printable(text: string): string {
  return text.replaceAll(
    // oxlint-disable-next-line no-control-regex -- it replaces them
    /[\0-\x09\x0B-\x1F\x7F-\x9F]/g,
    (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
  )
}

/** The parts of the process that a command uses. */
export type CommandContext = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>
