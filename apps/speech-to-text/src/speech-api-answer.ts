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

/** A recording that is being transcribed: the speech API has to be asked again. */
export interface TranscriptionJob {
  readonly id: string
  /** The share that has been heard, from 0 to 1, if that is told. */
  readonly progress: number | undefined
  readonly transcript: Transcript | undefined
  readonly error: SpeechApiError | undefined
  readonly askAgainMs: number
}

/** For clients that answer with what `fetch` does. */
export async function answerOf(response: Response): Promise<SpeechApiAnswer> {
  return {
    status: response.status,
    body: await response.json().catch(() => undefined),
    retryAfter: response.headers.get('retry-after'),
  }
}

/** @throws {SpeechApiError} for every answer that holds no transcript */
export function readTranscript(answer: SpeechApiAnswer): Transcript {
  if (answer.status === 200 && isTranscript(answer.body)) return answer.body
  throw errorOf(answer)
}

/** @throws {SpeechApiError} for every answer that tells of no job */
export function readJob(answer: SpeechApiAnswer): TranscriptionJob {
  const { id, state, progress, result, error } = Object(answer.body)
  if (
    (answer.status !== 200 && answer.status !== 202) ||
    typeof id !== 'string' ||
    typeof state !== 'string'
  ) {
    throw errorOf(answer)
  }
  return {
    id,
    progress: typeof progress === 'number' ? progress : undefined,
    transcript: state === 'done' ? readTranscript({ status: 200, body: result }) : undefined,
    error:
      state === 'failed' ? errorOf({ status: Number(error?.status) || 502, body: { error } }) : undefined,
    askAgainMs: milliseconds(answer.retryAfter) ?? 1_000,
  }
}

function errorOf({ status, body, retryAfter }: SpeechApiAnswer): SpeechApiError {
  const { code, message } = Object(Object(body).error)
  return new SpeechApiError(
    typeof message === 'string' ? message : sentenceFor(status),
    status < 300 ? 502 : status,
    typeof code === 'string' ? code : 'unexpected_answer',
    milliseconds(retryAfter),
  )
}

function milliseconds(retryAfter: string | null | undefined): number | undefined {
  return /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : undefined
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
