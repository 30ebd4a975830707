import { split } from 'shlex'
import { whichCommandSync } from 'which-command'

export interface Command {
  /** Absolute path of the program. */
  readonly program: string
  /** The arguments for a recording. */
  argumentsFor(file: string): string[]
}

const PLACEHOLDER = '{file}'

/**
 * Splits a command line into program and arguments as a POSIX shell does, quotes and backslashes included; nothing
 * else in it is special, for no shell ever sees it.
 *
 * @throws {TypeError} with one sentence saying what is wrong with it
 */
export function parseCommand(line: string, path?: string): Command {
  const [name, ...words] = splitLine(line)
  if (!name) throw new TypeError('The command of the speech engine is empty: name a program.')
  if (!words.some((word) => word.includes(PLACEHOLDER))) {
    throw new TypeError(
      `The command of the speech engine has no ${PLACEHOLDER} among its arguments, where the recording is to stand: ${line}`,
    )
  }
  const program = whichCommandSync(name, path === undefined ? {} : { path })
  if (!program) {
    throw new TypeError(
      `The speech engine's program ${name} was not found: install it, or write its whole path.`,
    )
  }
  return { program, argumentsFor: (file) => words.map((word) => word.replaceAll(PLACEHOLDER, () => file)) }
}

function splitLine(line: string): string[] {
  try {
    return split(line)
  } catch {
    throw new TypeError(
      `The command of the speech engine has a quote that is not closed, or ends in a backslash: ${line}`,
    )
  }
}
