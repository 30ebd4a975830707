import { availableParallelism } from 'node:os'
import { raceSignal } from 'race-signal'
import { untilAborted } from '../command/create-command-engine.ts'
import { EngineBusyError, type SpeechEngine } from '../speech-engine.ts'
import { createRecognitionThread } from './recognition-thread.ts'

export interface DigitsEngineOptions {
  /** Number of recognition threads.
   * @default the number of processors less one, at least 1 and at most 4
   */
  readonly threads?: number | undefined
  /** Maximum number of recordings transcribed at the same time. Further ones are rejected with `EngineBusyError`.
   * @default 32
   */
  readonly maxJobs?: number | undefined
}

const PIECE_BYTES = 65_536 // small enough that one long recording does not delay the others

/** Creates the engine that recognises the English digits `zero` to `nine`. It needs no other program. */
export function createDigitsEngine(options: DigitsEngineOptions = {}): SpeechEngine {
  const { threads: count = Math.min(4, Math.max(1, availableParallelism() - 1)), maxJobs = 32 } = options
  const threads = Array.from({ length: count }, createRecognitionThread)
  let lastJob = 0
  let closed = false
  const isBusy = () => threads.reduce((jobs, thread) => jobs + thread.jobs, 0) >= maxJobs

  const leastBusyThread = () => {
    if (closed) throw new Error('The engine is closed.')
    if (isBusy()) throw new EngineBusyError(`The engine is already transcribing ${maxJobs} recordings.`)
    for (const [index, thread] of threads.entries())
      if (thread.exited) threads[index] = createRecognitionThread()
    return threads.reduce((least, thread) => (thread.jobs < least.jobs ? thread : least))
  }

  return {
    name: 'digits',
    capacity: maxJobs,
    get busy() {
      return isBusy()
    },
    async transcribe(audio, { signal, onProgress }) {
      signal.throwIfAborted()
      const thread = leastBusyThread()
      const job = ++lastJob
      thread.add(job)
      onProgress?.(0)
      try {
        for await (const piece of untilAborted(audio, signal)) {
          for (let start = 0; start < piece.length; start += PIECE_BYTES) {
            // A copy: the buffer is transferred to the thread and may be part of a pool.
            const bytes = Uint8Array.from(piece.subarray(start, start + PIECE_BYTES))
            const response = await raceSignal(thread.send({ kind: 'audio', job, bytes }), signal)
            if (response.kind === 'processed') onProgress?.(response.processedSeconds)
          }
        }
        const response = await raceSignal(thread.send({ kind: 'end', job }), signal)
        if (response.kind !== 'transcribed') throw new Error('The recognition thread sent no transcript.')
        return response.transcript
      } finally {
        thread.remove(job)
      }
    },
    async close() {
      closed = true
      await Promise.all(threads.map((thread) => thread.stop()))
    },
  }
}
