import type { FileHandle } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import process from 'node:process'
import PQueue from 'p-queue'
import { raceSignal } from 'race-signal'
import { createTemporaryFile } from '../../temporary-files/temporary-file.ts'
import { createWavReader } from '../../wav/wav-reader.ts'
import {
  type RecordingFacts,
  createTranscript,
  EngineBusyError,
  EngineError,
  ExpectedSpeechError,
  type SpeechEngine,
  type Transcript,
} from '../speech-engine.ts'
import { parseCommand, ENGINE_FAILED, runProgram } from './parse-command.ts'
import { readOutput, parseTimedLine } from './read-output.ts'

/** Writes the header of a WAV file with one channel of 16-bit samples. */
function writeWavHeader(sampleRate: number, samples: number): Buffer {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples * 2, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(sampleRate, 24)
  header.writeUInt32LE(sampleRate * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples * 2, 40)
  return header
}

/** Yields what the source yields until the signal aborts, then throws its reason, even in the middle of a read. */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  signal.throwIfAborted()
  const iterator = source[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await raceSignal(iterator.next(), signal)
      if (next.done) return
      yield next.value
    }
  } finally {
    // Not awaited: `return` waits for a pending read, which may never settle.
    iterator.return?.().catch(() => undefined)
  }
}

/** The sample rate that speech recognition models are trained with. */
const SAMPLE_RATE = 16_000

/**
 * Converts any supported WAV file to the format that every speech recogniser accepts: one channel, 16 kHz, 16 bits.
 *
 * @returns what is known about the recording
 * @throws {AudioError} if the recording cannot be read
 */
async function writeSpeechWav(file: FileHandle, audio: AsyncIterable<Uint8Array>): Promise<RecordingFacts> {
  const reader = createWavReader(SAMPLE_RATE)
  let written = 0
  const write = async (samples: Float32Array) => {
    await file.appendFile(pcm(samples))
    written += samples.length
  }
  await file.write(writeWavHeader(SAMPLE_RATE, 0))
  for await (const bytes of audio) await write(reader.push(bytes))
  await write(reader.end())
  await file.write(writeWavHeader(SAMPLE_RATE, written), 0, undefined, 0)
  return reader
}

function pcm(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(samples.length * 2)
  samples.forEach((sample, index) => {
    bytes.writeInt16LE(Math.max(-0x8000, Math.min(0x7fff, Math.round(sample * 0x8000))), index * 2)
  })
  return bytes
}

export interface CommandEngineOptions {
  /** Program and arguments, one of them with `{file}`: `whisper-cli -m model.bin -f {file}`. */
  readonly command: string
  /** The program's environment variables.
   * @default those of this process
   */
  readonly environment?: NodeJS.ProcessEnv | undefined
  /** Maximum number of programs that run at the same time.
   * @default the number of processors
   */
  readonly concurrency?: number | undefined
  /** Maximum number of recordings that wait for a free program. Further ones are rejected with `EngineBusyError`.
   * @default 16
   */
  readonly maxWaiting?: number | undefined
  /** Time limit for one recording, in milliseconds.
   * @default 300_000
   */
  readonly timeoutMs?: number | undefined
}

/**
 * Creates an engine that runs a speech recognition program for each recording.
 *
 * @throws {TypeError} if the command is invalid or its program is not installed
 */
export function createCommandEngine(options: CommandEngineOptions): SpeechEngine {
  const { environment = process.env, concurrency = availableParallelism(), maxWaiting = 16 } = options
  const { timeoutMs = 300_000 } = options
  const command = parseCommand(options.command, environment['PATH'])
  const queue = new PQueue({ concurrency })
  const closing = new AbortController()
  const active = new Set<Promise<unknown>>()
  const capacity = concurrency + maxWaiting
  const isBusy = () => active.size >= capacity

  const transcribe: SpeechEngine['transcribe'] = async (audio, { signal: callerSignal, onProgress }) => {
    const signal = AbortSignal.any([callerSignal, closing.signal])
    let recording: RecordingFacts | undefined
    await using file = await createTemporaryFile(async (handle) => {
      recording = await writeSpeechWav(handle, untilAborted(audio, signal))
    })
    const output = await enqueue(queue, signal, () => {
      onProgress?.(0)
      return runProgram(command.program, command.argumentsFor(file.path), {
        environment,
        timeoutMs,
        signal,
        onLine: (line) => {
          const segment = parseTimedLine(line)
          if (segment) onProgress?.(segment.end)
        },
      })
    })
    return toTranscript(output, recording!)
  }

  return {
    name: 'command',
    capacity,
    get busy() {
      return isBusy()
    },
    async transcribe(audio, transcribeOptions) {
      if (transcribeOptions.expected) throw anySpeechOnly()
      if (isBusy()) throw new EngineBusyError('The queue of the speech recognition program is full.')
      const transcription = transcribe(audio, transcribeOptions)
      active.add(transcription)
      return transcription.finally(() => active.delete(transcription))
    },
    async close() {
      closing.abort(new EngineError('engine_closed', 'The speech API is shutting down. Try again later.'))
      await Promise.allSettled(active)
    },
  }
}

function anySpeechOnly(): ExpectedSpeechError {
  const message =
    'The engine of this server transcribes any speech. Send the recording without grammar, phrases and text.'
  return new ExpectedSpeechError('grammar_not_supported', message)
}

/** Runs a task when the queue reaches it. An abort removes it from the queue; a running task handles the abort itself. */
async function enqueue<T>(queue: PQueue, signal: AbortSignal, task: () => Promise<T>): Promise<T> {
  // The queue frees a slot as soon as its signal aborts, so it must not see an abort while the program still runs.
  const waiting = new AbortController()
  const leave = () => waiting.abort(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', leave, { once: true })
  return queue.add(
    () => {
      signal.removeEventListener('abort', leave)
      return task()
    },
    { signal: waiting.signal },
  )
}

function toTranscript(output: string, recording: RecordingFacts): Transcript {
  try {
    return createTranscript(recording, readOutput(output, recording.durationSeconds))
  } catch (cause) {
    throw new EngineError('engine_failed', ENGINE_FAILED, { cause })
  }
}
