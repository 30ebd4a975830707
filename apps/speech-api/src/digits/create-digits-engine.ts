import { availableParallelism } from 'node:os'
import { EngineBusyError, type SpeechEngine } from '../speech-engine.ts'
import { createWorkerLane } from './worker-lane.ts'

export interface DigitsEngineOptions {
  /**
   * Threads that recognise.
   * @default one less than there are processors, at least 1 and at most 4
   */
  readonly workers?: number | undefined
  /**
   * Recordings taken on at a time; more are refused with `EngineBusyError`.
   * @default 32
   */
  readonly maxJobs?: number | undefined
}

const PIECE = 65_536 // bytes: small enough that one long recording does not hold up the others

/** Creates the engine that recognises spoken English digits, `zero` to `nine`, with nothing to install. */
export function createDigitsEngine(options: DigitsEngineOptions = {}): SpeechEngine {
  const { workers = Math.min(4, Math.max(1, availableParallelism() - 1)), maxJobs = 32 } = options
  const lanes = Array.from({ length: workers }, createWorkerLane)
  let lastJob = 0
  let closed = false

  const pickLane = () => {
    if (closed) throw new Error('The engine is closed.')
    for (const [index, lane] of lanes.entries()) if (lane.ended) lanes[index] = createWorkerLane()
    if (lanes.reduce((jobs, lane) => jobs + lane.jobs, 0) >= maxJobs) {
      throw new EngineBusyError(`The recogniser already has ${maxJobs} recordings in hand.`)
    }
    return lanes.reduce((idlest, lane) => (lane.jobs < idlest.jobs ? lane : idlest))
  }

  return {
    name: 'digits',
    async transcribe(audio, { signal }) {
      signal.throwIfAborted()
      const lane = pickLane()
      const job = ++lastJob
      const iterator = audio[Symbol.asyncIterator]()
      const { aborted, release } = rejectOnAbort(signal)
      lane.begin(job)
      try {
        for (;;) {
          const next = await Promise.race([iterator.next(), aborted])
          if (next.done) break
          for (let start = 0; start < next.value.length; start += PIECE) {
            // A copy, for the buffer is handed over and may belong to a pool.
            const bytes = Uint8Array.from(next.value.subarray(start, start + PIECE))
            await Promise.race([lane.ask({ kind: 'audio', job, bytes }), aborted])
          }
        }
        const transcript = await Promise.race([lane.ask({ kind: 'end', job }), aborted])
        if (!transcript) throw new Error('The recogniser gave no answer.')
        return transcript
      } finally {
        release()
        lane.forget(job)
        // Not awaited: it may wait for a read that nothing ends but the reader's own failure.
        iterator.return?.().catch(() => undefined)
      }
    },
    async close() {
      closed = true
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }
}

function rejectOnAbort(signal: AbortSignal): { aborted: Promise<never>; release: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  promise.catch(() => undefined)
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  return { aborted: promise, release: () => signal.removeEventListener('abort', abort) }
}
