import { randomUUID } from 'node:crypto'
import { untilAborted } from '../abort-race.ts'
import { EngineBusyError, EngineError, type SpeechEngine } from '../speech-engine.ts'
import { createTemporaryFile } from '../temporary-file.ts'
import { ClientShareError } from './client-share-error.ts'
import type { Job } from './job.ts'
import { runJob } from './run-job.ts'

export interface JobStoreOptions {
  readonly engine: SpeechEngine
  /** Jobs under way, of all owners; more are refused with `EngineBusyError`, and with `ClientShareError` those of an
   * owner that has as many as are still free.
   * @default 16
   */
  readonly maxUnfinished?: number | undefined
  /** Jobs of one owner that are over and still known.
   * @default 100
   */
  readonly maxFinished?: number | undefined
  /** How long a job may take, in milliseconds.
   * @default 3_600_000
   */
  readonly timeLimitMs?: number | undefined
  /** How long a job that is over can still be asked about, in milliseconds.
   * @default 600_000
   */
  readonly keepMs?: number | undefined
  readonly now?: (() => number) | undefined
  /** Called when a job is over. */
  readonly onEnd?: ((job: Readonly<Job>) => void) | undefined
}

export interface Recording {
  readonly audio: AsyncIterable<Uint8Array>
  /** How long it is; undefined if nothing tells. */
  readonly seconds: number | undefined
}

export interface JobStore {
  /**
   * Takes a recording in, whole, and has it transcribed afterwards.
   *
   * @param signal ends the taking in
   * @throws {EngineBusyError | ClientShareError}
   */
  add(owner: string, recording: Recording, signal: AbortSignal): Promise<Readonly<Job>>
  /** The job, if it is that owner's own. */
  find(owner: string, id: string): Readonly<Job> | undefined
  /** Forgets a job of that owner, and ends it if it is not over; false if there is none. */
  remove(owner: string, id: string): boolean
  /** Ends all jobs. */
  close(): Promise<void>
}

interface Entry {
  readonly job: Job
  readonly ending: AbortController
  finishedAt?: number
}

/** Keeps a bounded number of jobs for a bounded time, in memory; their recordings, while they are under way, on the disk. */
export function createJobStore(options: JobStoreOptions): JobStore {
  const { engine, maxUnfinished = 16, maxFinished = 100, timeLimitMs = 3_600_000 } = options
  const { keepMs = 600_000, now = Date.now, onEnd } = options
  const entries = new Map<string, Entry>()
  const unfinished = new Map<Promise<unknown>, string>() // and whose each is
  const closing = new AbortController()

  const forgetOld = () => {
    for (const [id, { finishedAt = Infinity }] of entries)
      if (finishedAt + keepMs <= now()) entries.delete(id)
  }
  const finish = (entry: Entry) => {
    const { owner, id } = entry.job
    if (!entries.delete(id)) return
    entry.finishedAt = now()
    entries.set(id, entry) // the last of those that are over
    const finished = [...entries.values()].filter(({ job, finishedAt }) => job.owner === owner && finishedAt)
    if (finished.length > maxFinished) entries.delete(finished[0]!.job.id)
    onEnd?.(entry.job)
  }

  const checkRoom = (owner: string) => {
    const free = maxUnfinished - unfinished.size
    if (free <= 0) throw new EngineBusyError(`${maxUnfinished} recordings are being transcribed as jobs.`, 5)
    const own = [...unfinished.values()].filter((other) => other === owner).length
    // Whoever is alone leaves half, and those who stay at it come to have the same each, however many they are.
    if (own >= free) throw new ClientShareError(own)
  }

  const take = async (owner: string, { audio, seconds }: Recording, signal: AbortSignal) => {
    const file = await createTemporaryFile(async (handle) => {
      const either = AbortSignal.any([signal, closing.signal])
      for await (const bytes of untilAborted(audio, either)) await handle.appendFile(bytes)
    })
    const job: Job = { id: randomUUID(), owner, seconds, state: 'waiting', heardSeconds: 0 }
    const entry: Entry = { job, ending: new AbortController() }
    entries.set(job.id, entry)
    if (closing.signal.aborted) entry.ending.abort(closing.signal.reason)
    const run = async () => {
      await using _ = file
      await runJob(job, file.path, entry.ending, { engine, timeLimitMs })
      finish(entry)
    }
    return { job, over: run() }
  }

  return {
    async add(owner, recording, signal) {
      forgetOld()
      checkRoom(owner)
      const taken = take(owner, recording, signal)
      const over = taken.then((begun) => begun.over)
      unfinished.set(over, owner)
      over.catch(() => undefined).finally(() => unfinished.delete(over))
      return (await taken).job
    },
    find(owner, id) {
      forgetOld()
      const job = entries.get(id)?.job
      return job?.owner === owner ? job : undefined
    },
    remove(owner, id) {
      const entry = entries.get(id)
      if (entry?.job.owner !== owner) return false
      entries.delete(id)
      entry.ending.abort(new Error('The job was cancelled.'))
      return true
    },
    async close() {
      const reason = new EngineError('engine_closed', 'The speech API is being shut down; try again later.')
      closing.abort(reason)
      for (const { ending } of entries.values()) ending.abort(reason)
      await Promise.allSettled(unfinished.keys())
    },
  }
}
