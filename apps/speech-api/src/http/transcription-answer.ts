import type { Job } from '../jobs/job.ts'
import type { SpeechSegment, Transcript } from '../speech-engine.ts'
import { asApiError } from './error-handling.ts'

export interface TranscriptionAnswer {
  readonly text: string
  readonly durationSeconds: number
  readonly language: 'en'
  readonly segments: readonly SpeechSegment[]
}

export interface JobAnswer {
  readonly id: string
  readonly state: 'waiting' | 'running' | 'done' | 'failed'
  /** The share that has been heard, from 0 to 1; missing where nothing tells. */
  readonly progress?: number | undefined
  /** When it is done. */
  readonly result?: TranscriptionAnswer | undefined
  /** When it has failed: what a direct answer would have said, and with which status. */
  readonly error?: { readonly status: number; readonly code: string; readonly message: string } | undefined
}

export function transcriptionAnswer({ durationSeconds, segments }: Transcript): TranscriptionAnswer {
  return { text: segments.map(({ text }) => text).join(' '), durationSeconds, language: 'en', segments }
}

export function jobAnswer({ id, state, seconds, heardSeconds, transcript, error }: Readonly<Job>): JobAnswer {
  if (transcript) return { id, state, progress: 1, result: transcriptionAnswer(transcript) }
  if (state === 'failed') {
    const { statusCode, code, message } = asApiError(error)
    return { id, state, error: { status: statusCode, code, message } }
  }
  const share = seconds && Math.round(Math.min(1, heardSeconds / seconds) * 1_000) / 1_000
  return { id, state, progress: share }
}
