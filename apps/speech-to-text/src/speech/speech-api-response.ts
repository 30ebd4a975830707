import { TokenError } from '@tokenwell/core'

/** The words that the speech API recognised in a recording. */
export interface Transcript {
  readonly text: string
  readonly durationSeconds: number
  readonly segments: readonly TranscriptSegment[]
  /** What may be wrong with the recording or the transcript. */
  readonly warnings?: readonly { readonly code: string; readonly message: string }[] | undefined
}

/** A part of the recording, in seconds from its start, and the words in it. */
export interface TranscriptSegment {
  readonly start: number
  readonly end: number
  readonly text: string
  /** From 0 to 1. */
  readonly confidence: number
}

/** An error response of the speech API. */
export class SpeechApiError extends Error {
  override readonly name = 'SpeechApiError'
  readonly status: number
  /** The error code of the API, such as `not_a_wav`. */
  readonly code: string
  readonly retryAfterMs: number | undefined

  constructor(message: string, status: number, code: string, retryAfterMs?: number) {
    super(message)
    this.status = status
    this.code = code
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the recording is the cause, not the API or the credentials. */
  get isRecordingInvalid(): boolean {
    return [400, 413, 415, 422].includes(this.status) || this.code === 'engine_timeout'
  }

  /** Whether the same request may succeed later. */
  get isRetryable(): boolean {
    return !this.isRecordingInvalid && (this.status === 429 || this.status >= 500)
  }
}

/** The speech API did not respond. */
export class UnreachableError extends Error {
  override readonly name = 'UnreachableError'

  constructor(url: string, cause: unknown) {
    super(`The speech API at ${url} could not be reached (${errorCode(cause)}).`)
  }
}

/** HTTP clients wrap each other's errors: the innermost code, such as `ECONNREFUSED`, is the most specific. */
function errorCode(error: unknown): string {
  const { code, cause, errors, name } = Object(error)
  const inner = cause ?? errors?.[0]
  return inner ? errorCode(inner) : String(code ?? name ?? 'unknown error')
}

/** Yields an error and its causes: HTTP clients wrap errors in their own. */
export function* errorCauses(error: unknown): Generator {
  for (let cause = error; cause !== undefined && cause !== null; cause = Object(cause).cause) yield cause
}

/** Whether the same request may succeed later. */
export function isRetryable(error: unknown): boolean {
  for (const cause of errorCauses(error)) {
    if (cause instanceof SpeechApiError) return cause.isRetryable
    if (cause instanceof TokenError) return cause.kind === 'unavailable' || cause.kind === 'throttled'
  }
  return true
}

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
