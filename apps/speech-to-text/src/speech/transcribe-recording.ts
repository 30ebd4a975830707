import delay from 'delay'
import {
  isRetryable,
  SpeechApiError,
  readJob,
  readTranscript,
  type Expected,
  type SpeechApiResponse,
  type TranscriptionJob,
  type Transcript,
} from './speech-api-response.ts'

/** A request to the speech API, independent of the HTTP client. */
export interface SpeechApiRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** The part after `/transcriptions`. */
  readonly path: string
  /** A recording, and what is expected in it. */
  readonly form?: FormData | undefined
  readonly signal?: AbortSignal | undefined
}

export type SendRequest = (request: SpeechApiRequest) => Promise<SpeechApiResponse>

export interface TranscribeOptions {
  /** @default digits */
  readonly expected?: Expected | undefined
  readonly signal?: AbortSignal | undefined
  /** Called with the progress of a long recording, from 0 to 1, or undefined if it is unknown. */
  readonly onProgress?: ((progress: number | undefined) => void) | undefined
}

const MAX_FAILED_POLLS = 5

/**
 * Transcribes a recording. The speech API transcribes a long one as a job, which is polled until it has finished.
 *
 * @throws {SpeechApiError} or the error of the client
 */
export async function transcribeRecording(
  send: SendRequest,
  recording: Blob,
  options: TranscribeOptions = {},
): Promise<Transcript> {
  const form = formOf(recording, options.expected)
  const response = await send({ method: 'POST', path: '', form, signal: options.signal })
  return response.status === 202 ? pollJob(send, readJob(response), options) : readTranscript(response)
}

/** The speech API reads what is expected before the recording. */
function formOf(recording: Blob, expected?: Expected): FormData {
  const form = new FormData()
  if (expected?.grammar === 'text') form.set('text', expected.text)
  else if (expected?.grammar === 'phrases') form.set('phrases', expected.phrases.join('\n'))
  else if (expected) form.set('grammar', expected.grammar)
  form.set('file', recording, 'recording.wav')
  return form
}

async function pollJob(
  send: SendRequest,
  created: TranscriptionJob,
  { signal, onProgress }: TranscribeOptions,
): Promise<Transcript> {
  const path = `/${encodeURIComponent(created.id)}`
  let job = created
  try {
    for (let failures = 0; ;) {
      if (job.transcript) return job.transcript
      if (job.error) throw job.error
      onProgress?.(job.progress)
      await delay(job.pollAfterMs, signal ? { signal } : undefined)
      try {
        job = readJob(await send({ method: 'GET', path, signal }))
        failures = 0
      } catch (error) {
        signal?.throwIfAborted()
        if (!isRetryable(error) || ++failures > MAX_FAILED_POLLS) throw error
      }
    }
  } catch (error) {
    if (error instanceof SpeechApiError && error.status === 404) throw jobLost()
    // The result is not needed any more: the speech API can stop.
    if (!job.error)
      await send({ method: 'DELETE', path, signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    throw error
  }
}

function jobLost(): SpeechApiError {
  const message = 'The speech API lost the recording while transcribing it. The API may have been restarted.'
  return new SpeechApiError(message, 503, 'job_lost')
}
