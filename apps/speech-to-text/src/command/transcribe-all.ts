import pLimit from 'p-limit'
import type { Transcript } from '../transcript.ts'
import type { Recording } from './find-recordings.ts'
import { InputError } from './input-error.ts'
import { transcribeRecording, type TranscribeSettings } from './transcribe-recording.ts'

export type Outcome =
  | { readonly name: string; readonly transcript: Transcript }
  | { readonly name: string; readonly problem: string }

export interface TranscribeAllSettings extends TranscribeSettings {
  /** How many recordings are under way at once. */
  readonly concurrency: number
  readonly onStart?: ((name: string) => void) | undefined
  readonly onEnd?: ((name: string) => void) | undefined
}

/**
 * Transcribes many recordings at once and yields what became of them, in their order. A recording that is
 * to blame itself is one of the outcomes.
 *
 * @throws when a service or the credentials are to blame: the others are then given up at once
 */
export async function* transcribeAll(
  recordings: readonly Recording[],
  settings: TranscribeAllSettings,
): AsyncGenerator<Outcome> {
  const limit = pLimit(settings.concurrency)
  const abort = new AbortController()
  const outcomes = recordings.map((recording) => limit(() => outcomeOf(recording, settings, abort)))
  // Each is awaited in its turn; until then a failure must not count as unhandled.
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
    return { name, transcript: await transcribeRecording(recording, settings, abort.signal) }
  } catch (error) {
    if (error instanceof InputError) return { name, problem: error.message }
    abort.abort(error)
    throw error
  } finally {
    settings.onEnd?.(name)
  }
}
