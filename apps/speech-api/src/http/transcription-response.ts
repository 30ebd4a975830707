import type { SpeechSegment, Transcript, TranscriptWarning } from '../engines/speech-engine.ts'
import type { Job } from '../jobs/run-job.ts'
import { toApiError } from './handle-errors.ts'

export interface TranscriptionResponse {
  readonly text: string
  readonly durationSeconds: number
  readonly language: 'en'
  readonly segments: readonly SpeechSegment[]
  readonly warnings: readonly TranscriptWarning[]
}

export interface JobResponse {
  readonly id: string
  readonly state: 'waiting' | 'running' | 'done' | 'failed'
  /** From 0 to 1. Missing if it is unknown. */
  readonly progress?: number | undefined
  /** Present when the state is `done`. */
  readonly result?: TranscriptionResponse | undefined
  /** Present when the state is `failed`: status and error of the response that a short recording would have got. */
  readonly error?: { readonly status: number; readonly code: string; readonly message: string } | undefined
}

export function toTranscriptionResponse(transcript: Transcript): TranscriptionResponse {
  const { durationSeconds, segments, warnings = [] } = transcript
  const text = segments.map((segment) => segment.text).join(' ')
  return { text, durationSeconds, language: 'en', segments, warnings }
}

export function toJobResponse(job: Readonly<Job>): JobResponse {
  const { id, state, seconds, processedSeconds, transcript, error } = job
  if (transcript) return { id, state, progress: 1, result: toTranscriptionResponse(transcript) }
  if (state === 'failed') {
    const { statusCode, code, message } = toApiError(error)
    return { id, state, error: { status: statusCode, code, message } }
  }
  const progress = seconds && Math.round(Math.min(1, processedSeconds / seconds) * 1_000) / 1_000
  return { id, state, progress }
}
