import { createReadStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createAbortRace } from '../abort-race.ts'
import { EngineBusyError, EngineError, type SpeechEngine, type Transcript } from '../speech-engine.ts'
import type { Job } from './job.ts'

export interface JobSettings {
  readonly engine: SpeechEngine
  readonly timeLimitMs: number
}

const BUSY_AGAIN_MS = 500

/** Has the recording of a job transcribed and notes in the job what becomes of it. */
export async function runJob(
  job: Job,
  path: string,
  ending: AbortController,
  { engine, timeLimitMs }: JobSettings,
): Promise<void> {
  const limit = setTimeout(() => {
    const message = `The recording was not transcribed within ${timeLimitMs / 1_000} s.`
    ending.abort(new EngineError('engine_timeout', message))
  }, timeLimitMs)
  const onProgress = (heardSeconds: number) => {
    job.state = 'running'
    job.heardSeconds = Math.max(job.heardSeconds, heardSeconds)
  }
  const { signal } = ending
  using race = createAbortRace(signal)
  try {
    const transcription = whenNotBusy(signal, () =>
      engine.transcribe(createReadStream(path), { signal, onProgress }),
    )
    job.transcript = await race.run(transcription)
    job.state = 'done'
  } catch (error) {
    job.error = error
    job.state = 'failed'
  } finally {
    clearTimeout(limit)
  }
}

/** Nobody waits on a line for it, so it may take its time. */
async function whenNotBusy(signal: AbortSignal, transcribe: () => Promise<Transcript>): Promise<Transcript> {
  for (;;) {
    try {
      return await transcribe()
    } catch (error) {
      if (!(error instanceof EngineBusyError)) throw error
      await delay(BUSY_AGAIN_MS, undefined, { signal })
    }
  }
}
