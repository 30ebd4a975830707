import { createReadStream } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { raceSignal } from 'race-signal'
import { EngineBusyError, EngineError, type SpeechEngine, type Transcript } from '../engines/speech-engine.ts'
import type { Job } from './job.ts'

export interface JobSettings {
  readonly engine: SpeechEngine
  readonly timeoutMs: number
}

const BUSY_RETRY_MS = 500

/** Transcribes the recording of a job and stores the outcome in the job. */
export async function runJob(
  job: Job,
  path: string,
  controller: AbortController,
  { engine, timeoutMs }: JobSettings,
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
      engine.transcribe(createReadStream(path), { signal, onProgress }),
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
