import { createReadStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { raceSignal } from 'race-signal'
import {
  EngineBusyError,
  EngineError,
  type ExpectedSpeech,
  type SpeechEngine,
  type Transcript,
} from '../engines/speech-engine.ts'

/** A recording that is transcribed after its upload. */
export interface Job {
  readonly id: string
  readonly owner: string
  /** Duration of the recording, undefined if it is unknown. */
  readonly seconds: number | undefined
  state: 'waiting' | 'running' | 'done' | 'failed'
  processedSeconds: number
  transcript?: Transcript
  error?: unknown
}

/** A client already has as many recordings in progress as it may have at the moment. */
export class ShareExceededError extends Error {
  override readonly name = 'ShareExceededError'
  /** Number of recordings that the client has in progress. */
  readonly active: number

  constructor(active: number) {
    super(
      `You have ${active} ${active === 1 ? 'recording' : 'recordings'} in progress, which is the current maximum.`,
    )
    this.active = active
  }
}

/** Divides a limited number of places between clients. */
export interface FairShare {
  /** Number of places in use. */
  readonly active: number
  /**
   * Takes a place for a client, unless it already has as many as are free: a single client leaves half of the places to
   * others, and clients that compete end up with equal shares.
   *
   * @param free the number of free places
   * @returns a function that frees the place
   * @throws {ShareExceededError}
   */
  take(client: string, free: number): () => void
}

export function createFairShare(): FairShare {
  const byClient = new Map<string, number>()
  let active = 0
  const change = (client: string, by: number) => {
    active += by
    const own = (byClient.get(client) ?? 0) + by
    if (own > 0) byClient.set(client, own)
    else byClient.delete(client)
  }
  return {
    get active() {
      return active
    },
    take(client, free) {
      const own = byClient.get(client) ?? 0
      if (own >= free) throw new ShareExceededError(own)
      change(client, 1)
      let taken = true
      return () => {
        if (taken) change(client, -1)
        taken = false
      }
    },
  }
}

export interface JobSettings {
  readonly engine: SpeechEngine
  readonly expected: ExpectedSpeech | undefined
  readonly timeoutMs: number
}

const BUSY_RETRY_MS = 500

/** Transcribes the recording of a job and stores the outcome in the job. */
export async function runJob(
  job: Job,
  path: string,
  controller: AbortController,
  { engine, expected, timeoutMs }: JobSettings,
): Promise<void> {
  const timeout = setTimeout(() => {
    const message = `Transcribing the recording took longer than ${timeoutMs / 1_000} s.`
    controller.abort(new EngineError('engine_timeout', message))
  }, timeoutMs)
  const onProgress = (processedSeconds: number) => {
    job.state = 'running'
    job.processedSeconds = Math.max(job.processedSeconds, processedSeconds)
  }
  const { signal } = controller
  try {
    const transcription = whenNotBusy(signal, () =>
      engine.transcribe(createReadStream(path), { signal, expected, onProgress }),
    )
    job.transcript = await raceSignal(transcription, signal)
    job.state = 'done'
  } catch (error) {
    job.error = error
    job.state = 'failed'
  } finally {
    clearTimeout(timeout)
  }
}

/** No client waits for the response to a job, so a busy engine is not an error. */
async function whenNotBusy(signal: AbortSignal, transcribe: () => Promise<Transcript>): Promise<Transcript> {
  for (;;) {
    try {
      return await transcribe()
    } catch (error) {
      if (!(error instanceof EngineBusyError)) throw error
      await delay(BUSY_RETRY_MS, undefined, { signal })
    }
  }
}
