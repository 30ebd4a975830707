import { TokenError } from '@tokenwell/core'
import * as z from 'zod/mini'

const grammarSchema = z.enum(['digits', 'numbers', 'dates', 'codes'])

export const grammarNames = grammarSchema.options
export type GrammarName = z.infer<typeof grammarSchema>

/** What a recording contains, as far as it is known: the speech API listens for nothing else. */
export const expectedSchema = z.union([
  z.object({ grammar: grammarSchema }),
  /** One of these sentences, or several with pauses between them. */
  z.object({ grammar: z.literal('phrases'), phrases: z.array(z.string()) }),
  /** This text, of which each word gets its time. */
  z.object({ grammar: z.literal('text'), text: z.string() }),
])
export type Expected = z.infer<typeof expectedSchema>

const segmentSchema = z.object({
  /** Seconds from the start of the recording. */
  start: z.number(),
  end: z.number(),
  text: z.string(),
  /** From 0 to 1. Missing if the speech API runs a program that reports none. */
  confidence: z.optional(z.number()),
})

/** The words that the speech API recognised in a recording. */
export const transcriptSchema = z.object({
  text: z.string(),
  durationSeconds: z.number(),
  segments: z.array(segmentSchema),
  /** What the speech API listened for. */
  grammar: z.optional(z.string()),
  /** Whether part of the recording sounds unlike what was expected. */
  uncertain: z.optional(z.boolean()),
  /** What may be wrong with the recording or the transcript. */
  warnings: z.optional(z.array(z.object({ code: z.string(), message: z.string() }))),
})
export type Transcript = z.infer<typeof transcriptSchema>
export type TranscriptSegment = z.infer<typeof segmentSchema>

const errorSchema = z.object({ code: z.string(), message: z.string() })

const jobSchema = z.object({
  id: z.string(),
  state: z.enum(['waiting', 'running', 'done', 'failed']),
  progress: z.optional(z.number()),
  result: z.optional(transcriptSchema),
  error: z.optional(z.extend(errorSchema, { status: z.number() })),
})

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
  const { data } = transcriptSchema.safeParse(response.body)
  if (response.status === 200 && data) return data
  throw toError(response)
}

/** @throws {SpeechApiError} if the response contains no job */
export function readJob(response: SpeechApiResponse): TranscriptionJob {
  const { data: job } = jobSchema.safeParse(response.body)
  const accepted = response.status === 200 || response.status === 202
  if (!accepted || !job || (job.state === 'done' && !job.result)) throw toError(response)
  const { id, state, progress, result, error } = job
  return {
    id,
    progress,
    transcript: state === 'done' ? result : undefined,
    error: state === 'failed' ? toError({ status: error?.status ?? 502, body: { error } }) : undefined,
    pollAfterMs: milliseconds(response.retryAfter) ?? 1_000,
  }
}

function toError({ status, body, retryAfter }: SpeechApiResponse): SpeechApiError {
  const { data } = z.object({ error: errorSchema }).safeParse(body)
  return new SpeechApiError(
    data?.error.message ?? messageFor(status),
    status < 300 ? 502 : status,
    data?.error.code ?? 'unexpected_response',
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
