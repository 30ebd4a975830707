import { split } from 'shlex'
import { whichCommandSync } from 'which-command'

export interface Command {
  /** Absolute path of the program. */
  readonly program: string
  /** The arguments to transcribe one file. */
  argumentsFor(file: string): string[]
}

const PLACEHOLDER = '{file}'

/**
 * Splits a command line into program and arguments. Quotes and backslashes work as in a POSIX shell; nothing else is
 * special, as no shell runs it.
 *
 * @throws {TypeError} if the command is invalid or its program is not installed
 */
export function parseCommand(line: string, path?: string): Command {
  const [name, ...words] = splitLine(line)
  if (!name) throw new TypeError('The command is empty. Set a program and its arguments.')
  if (!words.some((word) => word.includes(PLACEHOLDER))) {
    throw new TypeError(
      `No argument of "${line}" contains ${PLACEHOLDER}. Add it where the program expects the path of the recording.`,
    )
  }
  const program = whichCommandSync(name, path === undefined ? {} : { path })
  if (!program) {
    throw new TypeError(`The program "${name}" was not found. Install it, or set its full path.`)
  }
  return { program, argumentsFor: (file) => words.map((word) => word.replaceAll(PLACEHOLDER, () => file)) }
}

function splitLine(line: string): string[] {
  try {
    return split(line)
  } catch {
    throw new TypeError(`The command has an unclosed quote or ends with a backslash: ${line}`)
  }
}
