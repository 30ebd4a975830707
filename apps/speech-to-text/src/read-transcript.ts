import { SpeechApiError } from './speech-api-error.ts'
import type { Transcript } from './transcript.ts'

/** An answer of the speech API, out of whichever client. */
export interface SpeechApiAnswer {
  readonly status: number
  /** The parsed body; undefined when it was no JSON. */
  readonly body: unknown
  /** RFC 9110, section 10.2.3; only the form in seconds is used. */
  readonly retryAfter?: string | null | undefined
}

/** @throws {SpeechApiError} for every answer that holds no transcript */
export function readTranscript({ status, body, retryAfter }: SpeechApiAnswer): Transcript {
  if (status === 200 && isTranscript(body)) return body
  const { code, message } = Object(Object(body).error)
  throw new SpeechApiError(
    typeof message === 'string' ? message : sentenceFor(status),
    status === 200 ? 502 : status,
    typeof code === 'string' ? code : 'unexpected_answer',
    /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : undefined,
  )
}

function sentenceFor(status: number): string {
  return status === 401
    ? 'The speech API refused the access token.'
    : `The speech API gave an answer of no use (status ${status}).`
}

function isTranscript(body: unknown): body is Transcript {
  const { text, durationSeconds, segments } = Object(body)
  return typeof text === 'string' && typeof durationSeconds === 'number' && Array.isArray(segments)
}
