import { split } from 'shlex'
import { whichCommandSync } from 'which-command'
import { raceSignal } from 'race-signal'
import { EngineError } from '../speech-engine.ts'

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

export interface ProgramSettings {
  readonly environment: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly onLine: (line: string) => void
}

/** For clients, without details: they cannot do anything about it. */
export const ENGINE_FAILED = 'The speech recognition program failed. The recording is not the cause.'

const MAX_OUTPUT_BYTES = 5_000_000
const STDERR_TAIL_LENGTH = 4_000

/**
 * Runs a program and returns its standard output. When the time is up or the signal aborts, the program and all
 * processes that it has started are killed.
 *
 * @throws {EngineError} if the program fails or times out
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { environment, timeoutMs, signal, onLine }: ProgramSettings,
): Promise<string> {
  // Slow to load, and most servers run no program.
  const { execa, ExecaError } = await import('execa')
  const timeout = AbortSignal.timeout(timeoutMs)
  const stop = AbortSignal.any([signal, timeout])
  const running = execa(program, args, {
    env: environment,
    extendEnv: false,
    stdin: 'ignore',
    buffer: { stderr: false },
    maxBuffer: { stdout: MAX_OUTPUT_BYTES },
    cancelSignal: stop,
    killDescendants: true,
    killSignal: 'SIGKILL', // a program that only reads a file has nothing to clean up
  })
  let line = ''
  running.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (line + text).split('\n')
    line = lines.pop() ?? ''
    lines.forEach(onLine)
  })
  let stderrTail = ''
  running.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderrTail = (stderrTail + text).slice(-STDERR_TAIL_LENGTH)
  })
  try {
    // Not awaited after a kill: a process that has left the process group could keep the output open.
    return (await raceSignal(running, stop)).stdout
  } catch (error) {
    signal.throwIfAborted()
    // Without its output, which may be half a transcript.
    const cause = error instanceof ExecaError ? new Error(error.shortMessage) : error
    const [code, message] = timeout.aborted
      ? (['engine_timeout', `Transcribing the recording took longer than ${timeoutMs / 1_000} s.`] as const)
      : (['engine_failed', ENGINE_FAILED] as const)
    throw new EngineError(code, message, { cause, stderrTail })
  }
}
