import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AudioError } from '../audio-error.ts'
import type { Answer, GoodAnswer, Question } from './worker-messages.ts'

export interface WorkerLane {
  /** Transcriptions under way. */
  readonly jobs: number
  /** Whether the worker has ended, with all that it had in hand. */
  readonly ended: boolean
  begin(job: number): void
  ask(question: Question): Promise<GoodAnswer>
  forget(job: number): void
  stop(): Promise<void>
}

/** Starts a thread that hears several recordings at a time, a piece of each in turn. */
export function createWorkerLane(): WorkerLane {
  // The same line serves the sources and what is built from them.
  const worker = new Worker(new URL(`./digits-worker${extname(import.meta.filename)}`, import.meta.url))
  const jobs = new Set<number>()
  const waiting = new Map<number, PromiseWithResolvers<GoodAnswer>>()
  let failure: Error | undefined
  worker.unref()

  const end = (error: Error) => {
    failure ??= error
    for (const { reject } of waiting.values()) reject(failure)
    waiting.clear()
  }
  worker.on('error', (error) => end(new Error('The recogniser failed.', { cause: error })))
  worker.on('exit', () => end(new Error('The recogniser has ended.')))
  worker.on('message', (answer: Answer) => {
    const asked = waiting.get(answer.job)
    waiting.delete(answer.job)
    if (answer.kind !== 'failed') asked?.resolve(answer)
    else asked?.reject(answer.code ? new AudioError(answer.code, answer.message) : new Error(answer.message))
  })

  return {
    get jobs() {
      return jobs.size
    },
    get ended() {
      return failure !== undefined
    },
    begin(job) {
      jobs.add(job)
      worker.ref() // a process waits for a transcription, not for an idle worker
    },
    ask(question) {
      if (failure) return Promise.reject(failure)
      const asked = Promise.withResolvers<GoodAnswer>()
      waiting.set(question.job, asked)
      worker.postMessage(question, question.kind === 'audio' ? [question.bytes.buffer] : [])
      return asked.promise
    },
    forget(job) {
      waiting.delete(job)
      jobs.delete(job)
      if (!failure) worker.postMessage({ kind: 'forget', job } satisfies Question, [])
      if (jobs.size === 0) worker.unref()
    },
    async stop() {
      await worker.terminate()
    },
  }
}
