import { setTimeout as delay } from 'node:timers/promises'
import { TokenError } from '@tokenwell/core'
import pRetry from 'p-retry'
import { causesOf, mayPass } from '../causes-of.ts'
import type { SpeechClient } from '../clients/speech-client.ts'
import { SpeechApiError } from '../speech-api-error.ts'
import type { Transcript } from '../transcript.ts'
import type { Recording } from './find-recordings.ts'
import { InputError } from './input-error.ts'
import { UnreachableError } from './unreachable-error.ts'

export interface TranscribeSettings {
  readonly client: SpeechClient
  readonly speechUrl: string
  /** How often to try again when a service does not answer. */
  readonly retries: number
  /** Called with the share of a long recording that has been heard, if that is told. */
  readonly onProgress?: ((name: string, share: number | undefined) => void) | undefined
  /** Called before it is tried again. */
  readonly onRetry?: ((error: Error) => void) | undefined
}

/** A service that says when to come back is at work: it is waited for, but not for ever. */
const patienceMs = 10 * 60_000

/**
 * Sends one recording, patiently: a service may be busy, or restarting.
 *
 * @throws {InputError} when the recording is to blame
 * @throws {TokenError | SpeechApiError | UnreachableError} when the others cannot be transcribed either
 */
export async function transcribeRecording(
  recording: Recording,
  { client, speechUrl, retries, onProgress, onRetry }: TranscribeSettings,
  signal: AbortSignal,
): Promise<Transcript> {
  const audio = await recording.open()
  const started = performance.now()
  const send = async () => {
    try {
      return await client.transcribe(audio, {
        signal,
        onProgress: (share) => onProgress?.(recording.name, share),
      })
    } catch (error) {
      signal.throwIfAborted()
      throw explain(error, recording.name, speechUrl)
    }
  }
  return pRetry(send, {
    retries,
    minTimeout: 500,
    maxTimeout: 10_000,
    randomize: true,
    signal,
    shouldRetry: ({ error }) => passes(error),
    shouldConsumeRetry: ({ error }) => !(comesBackAfter(error) && performance.now() - started < patienceMs),
    async onFailedAttempt({ error, retriesLeft }) {
      if (retriesLeft === 0 || !passes(error)) return
      onRetry?.(error)
      const afterMs = comesBackAfter(error)
      // Spread, so that those who were sent away do not all come back at once.
      if (afterMs) await delay(Math.min(afterMs, 60_000) * (1 + Math.random()), undefined, { signal })
    },
  })
}

function explain(error: unknown, name: string, speechUrl: string): Error {
  for (const cause of causesOf(error)) {
    if (cause instanceof TokenError) return cause
    if (cause instanceof SpeechApiError) {
      return cause.blamesRecording ? new InputError(`${name}: ${cause.message}`) : cause
    }
    // A file that is no longer what it was when it was opened.
    if (Object(cause).name === 'NotReadableError') {
      return new InputError(`${name} was changed while it was being read.`)
    }
  }
  return new UnreachableError(speechUrl, error)
}

function comesBackAfter(error: Error): number | undefined {
  return error instanceof SpeechApiError && error.passes ? error.retryAfterMs : undefined
}

function passes(error: Error): boolean {
  return !(error instanceof InputError) && mayPass(error)
}
