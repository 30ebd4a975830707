import { availableParallelism } from 'node:os'
import process from 'node:process'
import PQueue from 'p-queue'
import { untilAborted } from '../abort-race.ts'
import { EngineBusyError, EngineError, type SpeechEngine, type Transcript } from '../speech-engine.ts'
import { createTemporaryFile } from '../temporary-file.ts'
import { parseCommand } from './parse-command.ts'
import { readOutput } from './read-output.ts'
import { ENGINE_FAILED, runProgram } from './run-program.ts'
import { readTimedLine } from './timed-line.ts'
import { writeSpeechWav } from './write-speech-wav.ts'

export interface CommandEngineOptions {
  /** The program and its arguments, one of which holds `{file}`: `whisper-cli -m model.bin -f {file}`. */
  readonly command: string
  /** What the program finds in its environment.
   * @default this process's own
   */
  readonly environment?: NodeJS.ProcessEnv | undefined
  /** Programs that run at a time.
   * @default as many as there are processors
   */
  readonly concurrency?: number | undefined
  /** Recordings that wait for their turn; more are refused with `EngineBusyError`.
   * @default 16
   */
  readonly maxWaiting?: number | undefined
  /** How long a program may take over one recording, in milliseconds.
   * @default 300_000
   */
  readonly timeoutMs?: number | undefined
}

/**
 * Creates the engine that has any program on this machine recognise speech.
 *
 * @throws {TypeError} if the command cannot be one, or its program is not there
 */
export function createCommandEngine(options: CommandEngineOptions): SpeechEngine {
  const { environment = process.env, concurrency = availableParallelism(), maxWaiting = 16 } = options
  const { timeoutMs = 300_000 } = options
  const command = parseCommand(options.command, environment['PATH'])
  const turns = new PQueue({ concurrency })
  const closing = new AbortController()
  const inHand = new Set<Promise<unknown>>()
  const isBusy = () => inHand.size >= concurrency + maxWaiting

  const transcribe: SpeechEngine['transcribe'] = async (audio, { signal: given, onProgress }) => {
    const signal = AbortSignal.any([given, closing.signal])
    let durationSeconds = 0
    await using file = await createTemporaryFile(async (handle) => {
      durationSeconds = await writeSpeechWav(handle, untilAborted(audio, signal))
    })
    const output = await inTurn(turns, signal, () => {
      onProgress?.(0)
      return runProgram(command.program, command.argumentsFor(file.path), {
        environment,
        timeoutMs,
        signal,
        onLine: (line) => {
          const heard = readTimedLine(line)
          if (heard) onProgress?.(heard.end)
        },
      })
    })
    return asTranscript(output, durationSeconds)
  }

  return {
    name: 'command',
    get busy() {
      return isBusy()
    },
    async transcribe(audio, engineOptions) {
      if (isBusy()) throw new EngineBusyError('As many recordings as may wait for the speech program do.')
      const transcription = transcribe(audio, engineOptions)
      inHand.add(transcription)
      return transcription.finally(() => inHand.delete(transcription))
    },
    async close() {
      closing.abort(new EngineError('engine_closed', 'The speech API is being shut down; try again later.'))
      await Promise.allSettled(inHand)
    },
  }
}

/** Runs a task in its turn; whoever gives up before that leaves the queue at once. */
async function inTurn<T>(turns: PQueue, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
  const waiting = new AbortController()
  const leave = () => waiting.abort(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', leave, { once: true })
  // Its turn is over when the task has ended, not as soon as the signal aborts.
  return turns.add(
    () => {
      signal.removeEventListener('abort', leave)
      return task()
    },
    { signal: waiting.signal },
  )
}

function asTranscript(output: string, durationSeconds: number): Transcript {
  try {
    return {
      durationSeconds: Math.round(durationSeconds * 1_000) / 1_000,
      segments: readOutput(output, durationSeconds),
    }
  } catch (cause) {
    throw new EngineError('engine_failed', ENGINE_FAILED, { cause })
  }
}
