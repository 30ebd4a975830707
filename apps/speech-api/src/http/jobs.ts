import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { ApiError, engineClosed } from '../api-error.ts'
import type { ExpectedSpeech, SpeechEngine, Transcript } from '../engines/speech-engine.ts'

/** A recording that is being transcribed, or has been. */
export interface Job {
  readonly id: string
  readonly owner: string | undefined
  readonly expected: ExpectedSpeech
  readonly abort: AbortController
  /** Settles when it has finished, and never rejects. */
  readonly finished: Promise<void>
  /** From 0 to 1. */
  progress: number
  transcript?: Transcript
  error?: unknown
}

export interface JobsOptions {
  readonly engine: SpeechEngine
  /** How long a finished job is kept, in milliseconds. */
  readonly retentionMs: number
  readonly onFailed: (error: unknown) => void
}

const MAX_ACTIVE = 32
const MAX_KEPT = 1_000

/** Keeps the jobs of all clients in memory. Their recordings are deleted when they have finished. */
export function createJobs({ engine, retentionMs, onFailed }: JobsOptions) {
  const jobs = new Map<string, Job>()
  const active = new Set<Job>()
  let closed = false

  const run = async (job: Job, path: string): Promise<void> => {
    try {
      const { expected, abort } = job
      job.transcript = await engine.transcribe(path, {
        expected,
        signal: abort.signal,
        onProgress: (progress) => void (job.progress = progress),
      })
    } catch (error) {
      job.error = error
      if (!job.abort.signal.aborted) onFailed(error)
    } finally {
      active.delete(job)
      await rm(path, { force: true })
      setTimeout(() => jobs.delete(job.id), retentionMs).unref()
      const [oldest] = jobs.size > MAX_KEPT ? [...jobs.values()].filter((each) => !active.has(each)) : []
      if (oldest) jobs.delete(oldest.id)
    }
  }

  return {
    /** @throws {ApiError} 503 if no further recording is accepted at the moment */
    checkCapacity(): void {
      if (closed) throw engineClosed()
      if (active.size < MAX_ACTIVE) return
      throw new ApiError(503, 'busy', 'The speech API is busy. Try again soon.', { retryAfterSeconds: 2 })
    },
    /** Starts to transcribe a recording, which belongs to the job from now on. */
    start(owner: string | undefined, path: string, expected: ExpectedSpeech): Job {
      const finished = Promise.withResolvers<void>()
      const job: Job = {
        id: randomUUID(),
        owner,
        expected,
        abort: new AbortController(),
        finished: finished.promise,
        progress: 0,
      }
      jobs.set(job.id, job)
      active.add(job)
      void run(job, path).finally(finished.resolve)
      return job
    },
    /** @throws {ApiError} 404 if the job does not exist, or belongs to another client */
    find(owner: string | undefined, id: string): Job {
      const job = jobs.get(id)
      if (job && job.owner === owner) return job
      const message =
        'The transcription does not exist: it has expired, was deleted, or belongs to another client.'
      throw new ApiError(404, 'transcription_not_found', message)
    },
    remove(job: Job): void {
      jobs.delete(job.id)
      job.abort.abort(new ApiError(499, 'cancelled', 'The transcription was cancelled.'))
    },
    /** Cancels all jobs. */
    async close(): Promise<void> {
      closed = true
      for (const { abort } of active) abort.abort(engineClosed())
      await Promise.all([...active].map(({ finished }) => finished))
    },
  }
}
