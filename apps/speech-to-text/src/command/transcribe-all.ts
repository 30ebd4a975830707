import pLimit from 'p-limit'
import type { Transcript } from '../speech/transcript.ts'
import type { Recording } from './find-recordings.ts'
import { RecordingError } from './recording-error.ts'
import { transcribeWithRetries, type TranscribeSettings } from './transcribe-with-retries.ts'

export type Outcome =
  | { readonly name: string; readonly transcript: Transcript }
  | { readonly name: string; readonly error: string }

export interface TranscribeAllSettings extends TranscribeSettings {
  /** Number of recordings that are transcribed at the same time. */
  readonly concurrency: number
  readonly onStart?: ((name: string) => void) | undefined
  readonly onEnd?: ((name: string) => void) | undefined
}

/**
 * Transcribes several recordings at the same time and yields the outcomes in their order. An invalid recording is an
 * outcome too.
 *
 * @throws if a service or the credentials are the cause; the other recordings are then cancelled
 */
export async function* transcribeAll(
  recordings: readonly Recording[],
  settings: TranscribeAllSettings,
): AsyncGenerator<Outcome> {
  const limit = pLimit(settings.concurrency)
  const abort = new AbortController()
  const outcomes = recordings.map((recording) => limit(() => outcomeOf(recording, settings, abort)))
  // They are awaited one after another: an earlier rejection must not count as unhandled.
  for (const outcome of outcomes) outcome.catch(() => {})
  try {
    for (const outcome of outcomes) yield await outcome
  } finally {
    abort.abort()
    await Promise.allSettled(outcomes)
  }
}

async function outcomeOf(
  recording: Recording,
  settings: TranscribeAllSettings,
  abort: AbortController,
): Promise<Outcome> {
  abort.signal.throwIfAborted()
  const { name } = recording
  settings.onStart?.(name)
  try {
    return { name, transcript: await transcribeWithRetries(recording, settings, abort.signal) }
  } catch (error) {
    if (error instanceof RecordingError) return { name, error: error.message }
    abort.abort(error)
    throw error
  } finally {
    settings.onEnd?.(name)
  }
}
