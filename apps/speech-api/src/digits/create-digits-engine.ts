import { availableParallelism } from 'node:os'
import { createAbortRace, untilAborted } from '../abort-race.ts'
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
  const inHand = () => lanes.reduce((jobs, lane) => jobs + lane.jobs, 0)

  const pickLane = () => {
    if (closed) throw new Error('The engine is closed.')
    for (const [index, lane] of lanes.entries()) if (lane.ended) lanes[index] = createWorkerLane()
    if (inHand() >= maxJobs) {
      throw new EngineBusyError(`The recogniser already has ${maxJobs} recordings in hand.`)
    }
    return lanes.reduce((idlest, lane) => (lane.jobs < idlest.jobs ? lane : idlest))
  }

  return {
    name: 'digits',
    get busy() {
      return inHand() >= maxJobs
    },
    async transcribe(audio, { signal, onProgress }) {
      signal.throwIfAborted()
      const lane = pickLane()
      const job = ++lastJob
      using race = createAbortRace(signal)
      lane.begin(job)
      onProgress?.(0)
      try {
        for await (const piece of untilAborted(audio, signal)) {
          for (let start = 0; start < piece.length; start += PIECE) {
            // A copy, for the buffer is handed over and may belong to a pool.
            const bytes = Uint8Array.from(piece.subarray(start, start + PIECE))
            const answer = await race.run(lane.ask({ kind: 'audio', job, bytes }))
            if (answer.kind === 'taken') onProgress?.(answer.heardSeconds)
          }
        }
        const answer = await race.run(lane.ask({ kind: 'end', job }))
        if (answer.kind !== 'heard') throw new Error('The recogniser gave no answer.')
        return answer.transcript
      } finally {
        lane.forget(job)
      }
    },
    async close() {
      closed = true
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }
}
