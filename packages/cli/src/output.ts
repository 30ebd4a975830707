import { styleText } from 'node:util'
import { Help } from 'commander'

// Results go to standard output, messages to standard error.

/** The parts of the process that a command uses. */
export type CommandContext = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'env'>

/** Prints what failed and, after an arrow each, what to do. */
export function printFailure({ stderr }: CommandContext, message: string, hints: readonly string[]): void {
  const name = styleText('red', 'tokenwell:', { stream: stderr })
  stderr.write(`${hanging(printable(message), `${name} `, 11, stderr)}\n`)
  for (const hint of hints) stderr.write(`${hanging(printable(hint), '→ ', 2, stderr)}\n`)
}

export function warn({ stderr }: CommandContext, sentence: string): void {
  const label = styleText('yellow', 'warning:', { stream: stderr })
  stderr.write(`${hanging(printable(sentence), `${label} `, 9, stderr)}\n`)
}

export function info({ stderr }: CommandContext, sentence: string): void {
  stderr.write(`${hanging(printable(sentence), '', 0, stderr)}\n`)
}

/** A text after a label. On a terminal, its lines are broken between words and indented by the width of the label. */
export function hanging(text: string, label: string, indent: number, stream: NodeJS.WriteStream): string {
  if (!stream.isTTY) return label + text
  const width = Math.max(Math.min(stream.columns || 80, 100) - indent, 20)
  return label + new Help().boxWrap(text, width).replaceAll('\n', `\n${' '.repeat(indent)}`)
}

/**
 * Control characters, such as those in the name of a file, would change what a terminal shows, as would those that change the
 * direction of text.
 */
function printable(text: string): string {
  return text.replaceAll(
    /(?!\n)[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (character) => {
      const code = character.charCodeAt(0).toString(16)
      return code.length > 2 ? `\\u${code.padStart(4, '0')}` : `\\x${code.padStart(2, '0')}`
    },
  )
}
