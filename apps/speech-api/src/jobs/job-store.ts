import { randomUUID } from 'node:crypto'
import { untilAborted } from '../engines/command/create-command-engine.ts'
import {
  EngineBusyError,
  EngineError,
  type ExpectedSpeech,
  type SpeechEngine,
} from '../engines/speech-engine.ts'
import { createTemporaryFile } from '../temporary-files/temporary-file.ts'
import { createFairShare, runJob, type Job } from './run-job.ts'

export interface JobStoreOptions {
  readonly engine: SpeechEngine
  /** Maximum number of active jobs of all owners. Further ones are rejected with `EngineBusyError`; those of an owner that
   * already has as many as are free, with `ShareExceededError`.
   * @default 16
   */
  readonly maxActive?: number | undefined
  /** Maximum number of finished jobs kept for each owner.
   * @default 100
   */
  readonly maxFinished?: number | undefined
  /** Time limit for one job, in milliseconds.
   * @default 3_600_000
   */
  readonly timeoutMs?: number | undefined
  /** How long a finished job is kept, in milliseconds.
   * @default 600_000
   */
  readonly retentionMs?: number | undefined
  readonly now?: (() => number) | undefined
  readonly onFinished?: ((job: Readonly<Job>) => void) | undefined
}

export interface Recording {
  readonly audio: AsyncIterable<Uint8Array>
  /** Duration, undefined if it is unknown. */
  readonly seconds: number | undefined
  readonly expected?: ExpectedSpeech | undefined
}

export interface JobStore {
  /** Number of jobs that the engine is transcribing. */
  readonly running: number
  /**
   * Stores the whole recording, then transcribes it in the background.
   *
   * @param signal cancels the upload
   * @throws {EngineBusyError | ShareExceededError}
   */
  add(owner: string, recording: Recording, signal: AbortSignal): Promise<Readonly<Job>>
  /** Returns the job if it belongs to this owner. */
  find(owner: string, id: string): Readonly<Job> | undefined
  /** Cancels and deletes a job of this owner; returns false if there is none. */
  remove(owner: string, id: string): boolean
  /** Cancels all jobs. */
  close(): Promise<void>
}

interface Entry {
  readonly job: Job
  readonly controller: AbortController
  finishedAt?: number
}

/** Keeps a limited number of jobs for a limited time: in memory, with the recordings of active jobs on disk. */
export function createJobStore(options: JobStoreOptions): JobStore {
  const { engine, maxActive = 16, maxFinished = 100, timeoutMs = 3_600_000 } = options
  const { retentionMs = 600_000, now = Date.now, onFinished } = options
  const entries = new Map<string, Entry>()
  const active = new Set<Promise<unknown>>()
  const share = createFairShare()
  const closing = new AbortController()

  const deleteExpired = () => {
    for (const [id, { finishedAt = Infinity }] of entries)
      if (finishedAt + retentionMs <= now()) entries.delete(id)
  }
  const finish = (entry: Entry) => {
    const { owner, id } = entry.job
    if (!entries.delete(id)) return
    entry.finishedAt = now()
    entries.set(id, entry) // moved to the end: finished jobs are in the order in which they finished
    const finished = [...entries.values()].filter(({ job, finishedAt }) => job.owner === owner && finishedAt)
    if (finished.length > maxFinished) entries.delete(finished[0]!.job.id)
    onFinished?.(entry.job)
  }

  const takePlace = (owner: string) => {
    const free = maxActive - share.active
    if (free <= 0) throw new EngineBusyError(`${maxActive} jobs are active.`, 5)
    return share.take(owner, free)
  }

  const store = async (owner: string, { audio, seconds, expected }: Recording, signal: AbortSignal) => {
    const file = await createTemporaryFile(async (handle) => {
      const either = AbortSignal.any([signal, closing.signal])
      for await (const bytes of untilAborted(audio, either)) await handle.appendFile(bytes)
    })
    const job: Job = { id: randomUUID(), owner, seconds, state: 'waiting', processedSeconds: 0 }
    const entry: Entry = { job, controller: new AbortController() }
    entries.set(job.id, entry)
    if (closing.signal.aborted) entry.controller.abort(closing.signal.reason)
    const run = async () => {
      await using _ = file
      await runJob(job, file.path, entry.controller, { engine, expected, timeoutMs })
      finish(entry)
    }
    return { job, finished: run() }
  }

  return {
    get running() {
      return [...entries.values()].filter(({ job }) => job.state === 'running').length
    },
    async add(owner, recording, signal) {
      deleteExpired()
      const freePlace = takePlace(owner)
      const stored = store(owner, recording, signal)
      const finished = stored.then((started) => started.finished)
      active.add(finished)
      finished
        .catch(() => undefined)
        .finally(() => {
          active.delete(finished)
          freePlace()
        })
      return (await stored).job
    },
    find(owner, id) {
      deleteExpired()
      const job = entries.get(id)?.job
      return job?.owner === owner ? job : undefined
    },
    remove(owner, id) {
      const entry = entries.get(id)
      if (entry?.job.owner !== owner) return false
      entries.delete(id)
      entry.controller.abort(new Error('The job was cancelled.'))
      return true
    },
    async close() {
      const reason = new EngineError('engine_closed', 'The speech API is shutting down. Try again later.')
      closing.abort(reason)
      for (const { controller } of entries.values()) controller.abort(reason)
      await Promise.allSettled(active)
    },
  }
}
