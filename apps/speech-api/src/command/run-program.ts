import { createAbortRace } from '../abort-race.ts'
import { EngineError } from '../speech-engine.ts'

export interface ProgramSettings {
  readonly environment: NodeJS.ProcessEnv
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly onLine: (line: string) => void
}

/** For clients, who can do nothing about it. */
export const ENGINE_FAILED =
  'The program that recognises speech has failed; this is not the fault of the recording.'

const LONGEST_OUTPUT = 5_000_000
const LAST_WORDS = 4_000

/**
 * Runs a program to its end, or to that of its time, and returns what it printed. Those that it has started in turn
 * end with it.
 *
 * @throws {EngineError} unless it ends well
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  { environment, timeoutMs, signal, onLine }: ProgramSettings,
): Promise<string> {
  // Slow to load, and most servers have no program to run.
  const { execa, ExecaError } = await import('execa')
  const timeLimit = AbortSignal.timeout(timeoutMs)
  const ending = AbortSignal.any([signal, timeLimit])
  const running = execa(program, args, {
    env: environment,
    extendEnv: false,
    stdin: 'ignore',
    buffer: { stderr: false },
    maxBuffer: { stdout: LONGEST_OUTPUT },
    cancelSignal: ending,
    killDescendants: true,
    killSignal: 'SIGKILL', // it has nothing to put in order, and is not asked whether it likes to end
  })
  let line = ''
  running.stdout.setEncoding('utf8').on('data', (text: string) => {
    const lines = (line + text).split('\n')
    line = lines.pop() ?? ''
    lines.forEach(onLine)
  })
  let lastWords = ''
  running.stderr.setEncoding('utf8').on('data', (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS)
  })
  // Not waited for once it is killed: what has left its process group might still hold its output open.
  using race = createAbortRace(ending)
  try {
    return (await race.run(running)).stdout
  } catch (error) {
    signal.throwIfAborted()
    // Without what it printed, which may be half a transcript.
    const cause = error instanceof ExecaError ? new Error(error.shortMessage) : error
    const [code, message] = timeLimit.aborted
      ? (['engine_timeout', `The recording was not transcribed within ${timeoutMs / 1_000} s.`] as const)
      : (['engine_failed', ENGINE_FAILED] as const)
    throw new EngineError(code, message, { cause, lastWords })
  }
}
