import { SpeechApiError } from './speech-api-error.ts'
import type { Transcript } from './transcript.ts'

/** A response of the speech API, from any HTTP client. */
export interface SpeechApiResponse {
  readonly status: number
  /** The parsed JSON; undefined if the body is not JSON. */
  readonly body: unknown
  /** RFC 9110, section 10.2.3. Only seconds are supported. */
  readonly retryAfter?: string | null | undefined
}

/** A recording that the speech API transcribes in the background. */
export interface TranscriptionJob {
  readonly id: string
  /** From 0 to 1, undefined if it is unknown. */
  readonly progress: number | undefined
  readonly transcript: Transcript | undefined
  readonly error: SpeechApiError | undefined
  readonly pollAfterMs: number
}

/** For clients that return a `Response`. */
export async function toSpeechApiResponse(response: Response): Promise<SpeechApiResponse> {
  return {
    status: response.status,
    body: await response.json().catch(() => undefined),
    retryAfter: response.headers.get('retry-after'),
  }
}

/** @throws {SpeechApiError} if the response contains no transcript */
export function readTranscript(response: SpeechApiResponse): Transcript {
  if (response.status === 200 && isTranscript(response.body)) return response.body
  throw toError(response)
}

/** @throws {SpeechApiError} if the response contains no job */
export function readJob(response: SpeechApiResponse): TranscriptionJob {
  const { id, state, progress, result, error } = Object(response.body)
  const accepted = response.status === 200 || response.status === 202
  if (!accepted || typeof id !== 'string' || typeof state !== 'string') throw toError(response)
  return {
    id,
    progress: typeof progress === 'number' ? progress : undefined,
    transcript: state === 'done' ? readTranscript({ status: 200, body: result }) : undefined,
    error:
      state === 'failed' ? toError({ status: Number(error?.status) || 502, body: { error } }) : undefined,
    pollAfterMs: milliseconds(response.retryAfter) ?? 1_000,
  }
}

function toError({ status, body, retryAfter }: SpeechApiResponse): SpeechApiError {
  const { code, message } = Object(Object(body).error)
  return new SpeechApiError(
    typeof message === 'string' ? message : messageFor(status),
    status < 300 ? 502 : status,
    typeof code === 'string' ? code : 'unexpected_response',
    milliseconds(retryAfter),
  )
}

function milliseconds(retryAfter: string | null | undefined): number | undefined {
  return /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1_000 : undefined
}

function messageFor(status: number): string {
  return status === 401
    ? 'The speech API rejected the access token.'
    : `The speech API returned an invalid response (status ${status}).`
}

function isTranscript(body: unknown): body is Transcript {
  const { text, durationSeconds, segments } = Object(body)
  return typeof text === 'string' && typeof durationSeconds === 'number' && Array.isArray(segments)
}
