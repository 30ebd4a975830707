import { availableParallelism } from 'node:os'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { raceSignal } from 'race-signal'
import { AudioError } from '../../wav/wav-format.ts'
import { untilAborted } from '../command/create-command-engine.ts'
import {
  EngineBusyError,
  EngineError,
  ExpectedSpeechError,
  type SpeechEngine,
  type Transcript,
} from '../speech-engine.ts'
import type { RejectedInput, ThreadRequest, ThreadResponse } from './grammar-worker.ts'

export interface GrammarEngineOptions {
  /** Number of recognition threads. Each uses about 80 MB.
   * @default the number of processors less one, at least 1 and at most 4
   */
  readonly threads?: number | undefined
  /** Maximum number of recordings transcribed at the same time. Further ones are rejected with `EngineBusyError`.
   * @default 32
   */
  readonly maxJobs?: number | undefined
  /** How long a thread may take for the next piece of a recording, in milliseconds, before it is replaced.
   * @default 120_000
   */
  readonly timeoutMs?: number | undefined
}

const PIECE_BYTES = 65_536 // small enough that one long recording does not delay the others

/**
 * Creates the engine that recognises English speech of which it is known what may be said: digits, numbers, dates,
 * codes, given phrases, or a whole text. It needs no other program.
 */
export function createGrammarEngine(options: GrammarEngineOptions = {}): SpeechEngine {
  const { threads: count = Math.min(4, Math.max(1, availableParallelism() - 1)), maxJobs = 32 } = options
  const { timeoutMs = 120_000 } = options
  const threads = Array.from({ length: count }, () => createThread(timeoutMs))
  let lastJob = 0
  let closed = false
  const isBusy = () => threads.reduce((jobs, thread) => jobs + thread.jobs, 0) >= maxJobs

  const leastBusyThread = () => {
    if (closed) throw closedError()
    if (isBusy()) throw new EngineBusyError(`The engine is already transcribing ${maxJobs} recordings.`)
    for (const [index, thread] of threads.entries())
      if (thread.failed) threads[index] = createThread(timeoutMs)
    return threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least))
  }

  return {
    name: 'grammar',
    capacity: maxJobs,
    get busy() {
      return isBusy()
    },
    async transcribe(audio, { signal, expected = { grammar: 'digits' }, onProgress }) {
      signal.throwIfAborted()
      const thread = leastBusyThread()
      const job = ++lastJob
      thread.add(job)
      const send = async (request: ThreadRequest): Promise<Transcript | undefined> => {
        const response = await raceSignal(thread.send(request), signal)
        if (response.kind === 'rejected') throw toError(response.error)
        if (response.kind === 'transcribed') return response.transcript
        onProgress?.(response.processedSeconds)
        return undefined
      }
      try {
        await send({ kind: 'begin', job, expected })
        for await (const piece of untilAborted(audio, signal)) {
          for (let start = 0; start < piece.length; start += PIECE_BYTES) {
            // A copy: the buffer is transferred to the thread and may be part of a pool.
            const bytes = Uint8Array.from(piece.subarray(start, start + PIECE_BYTES))
            await send({ kind: 'audio', job, bytes })
          }
        }
        return (await send({ kind: 'end', job }))!
      } finally {
        thread.remove(job)
      }
    },
    async close() {
      closed = true
      await Promise.all(threads.map((thread) => thread.stop(closedError())))
    },
  }
}

function closedError(): EngineError {
  return new EngineError('engine_closed', 'The speech API is shutting down. Try again later.')
}

function toError({ cause, code, message }: RejectedInput): Error {
  return cause === 'audio' ? new AudioError(code, message) : new ExpectedSpeechError(code, message)
}

interface Thread {
  /** Number of transcriptions in progress. */
  readonly jobs: number
  /** Whether it has failed, and all of its jobs with it. */
  readonly failed: boolean
  add(job: number): void
  send(request: ThreadRequest): Promise<ThreadResponse>
  remove(job: number): void
  stop(reason: EngineError): Promise<void>
}

/** Starts a thread that transcribes several recordings at the same time, a piece of each in turn. */
function createThread(timeoutMs: number): Thread {
  // The extension is that of this file: the line works in the sources and in the build.
  const script = new URL(`./grammar-worker${extname(import.meta.filename)}`, import.meta.url)
  const worker = new Worker(script)
  const jobs = new Set<number>()
  const pending = new Map<number, PromiseWithResolvers<ThreadResponse>>()
  let failure: EngineError | undefined
  let timer: NodeJS.Timeout | undefined
  worker.unref()

  const stop = async (reason: EngineError) => {
    failure ??= reason
    clearTimeout(timer)
    for (const { reject } of pending.values()) reject(failure)
    pending.clear()
    await worker.terminate()
  }
  const fail = (cause?: unknown) =>
    void stop(
      new EngineError('engine_failed', 'The speech recognition failed. Send the recording again.', { cause }),
    )
  worker.on('error', fail)
  worker.on('exit', () => fail())

  /** The thread works on one request at a time: each response starts the time of the next. */
  const startTimer = () => {
    clearTimeout(timer)
    if (pending.size === 0) return
    const message = `Transcribing a part of the recording took longer than ${timeoutMs / 1_000} s.`
    timer = setTimeout(() => void stop(new EngineError('engine_timeout', message)), timeoutMs)
  }
  worker.on('message', (response: ThreadResponse) => {
    const request = pending.get(response.job)
    pending.delete(response.job)
    startTimer()
    request?.resolve(response)
  })

  return {
    get jobs() {
      return jobs.size
    },
    get failed() {
      return failure !== undefined
    },
    add(job) {
      jobs.add(job)
      worker.ref() // a transcription keeps the process alive, an idle thread does not
    },
    send(request) {
      if (failure) return Promise.reject(failure)
      const response = Promise.withResolvers<ThreadResponse>()
      pending.set(request.job, response)
      if (pending.size === 1) startTimer()
      worker.postMessage(request, request.kind === 'audio' ? [request.bytes.buffer] : [])
      return response.promise
    },
    remove(job) {
      pending.delete(job)
      jobs.delete(job)
      if (!failure) worker.postMessage({ kind: 'remove', job } satisfies ThreadRequest, [])
      if (jobs.size === 0) worker.unref()
    },
    stop,
  }
}
