import delay from 'delay'
import pLimit from 'p-limit'
import pRetry from 'p-retry'
import { TokenError } from '@tokenwell/core'
import type { SpeechClient } from '../clients/speech-client.ts'
import {
  errorCauses,
  type Expected,
  isRetryable,
  SpeechApiError,
  type Transcript,
  UnreachableError,
} from '../speech/speech-api-response.ts'
import { type Recording, RecordingError } from './find-recordings.ts'

export interface TranscribeSettings {
  readonly client: SpeechClient
  readonly speechUrl: string
  /** @default digits */
  readonly expected?: Expected | undefined
  /** Retries when a service cannot be reached. */
  readonly retries: number
  /** Called with the progress of a long recording, from 0 to 1, or undefined if it is unknown. */
  readonly onProgress?: ((name: string, progress: number | undefined) => void) | undefined
  /** Called before a retry. */
  readonly onRetry?: ((error: Error) => void) | undefined
}

/** A response with `Retry-After` does not count as a retry, up to this time limit. */
const maxBusyMs = 10 * 60_000

/**
 * Transcribes one recording. Retries when a service is busy or restarting.
 *
 * @throws {RecordingError} if the recording is invalid
 * @throws {TokenError | SpeechApiError | UnreachableError} if no other recording can be transcribed either
 */
async function transcribeWithRetries(
  recording: Recording,
  { client, speechUrl, expected, retries, onProgress, onRetry }: TranscribeSettings,
  signal: AbortSignal,
): Promise<Transcript> {
  const audio = await recording.open()
  const started = performance.now()
  const send = async () => {
    try {
      return await client.transcribe(audio, {
        expected,
        signal,
        onProgress: (progress) => onProgress?.(recording.name, progress),
      })
    } catch (error) {
      signal.throwIfAborted()
      throw toKnownError(error, recording.name, speechUrl)
    }
  }
  return pRetry(send, {
    retries,
    minTimeout: 500,
    maxTimeout: 10_000,
    randomize: true,
    signal,
    shouldRetry: ({ error }) => shouldRetry(error),
    shouldConsumeRetry: ({ error }) => !(retryAfter(error) && performance.now() - started < maxBusyMs),
    async onFailedAttempt({ error, retriesLeft }) {
      if (retriesLeft === 0 || !shouldRetry(error)) return
      onRetry?.(error)
      const afterMs = retryAfter(error)
      // Jitter, so that rejected requests are not all repeated at the same time.
      if (afterMs) await delay(Math.min(afterMs, 60_000) * (1 + Math.random()), { signal })
    },
  })
}

function toKnownError(error: unknown, name: string, speechUrl: string): Error {
  for (const cause of errorCauses(error)) {
    if (cause instanceof TokenError) return cause
    if (cause instanceof SpeechApiError) {
      return cause.isRecordingInvalid ? new RecordingError(`${name}: ${cause.message}`) : cause
    }
    // The file has changed since it was opened.
    if (Object(cause).name === 'NotReadableError') {
      return new RecordingError(`${name} changed while it was being read.`)
    }
  }
  return new UnreachableError(speechUrl, error)
}

function retryAfter(error: Error): number | undefined {
  return error instanceof SpeechApiError && error.isRetryable ? error.retryAfterMs : undefined
}

function shouldRetry(error: Error): boolean {
  return !(error instanceof RecordingError) && isRetryable(error)
}

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
