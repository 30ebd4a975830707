import { mayPass } from './causes-of.ts'
import { readJob, readTranscript, type SpeechApiAnswer, type TranscriptionJob } from './speech-api-answer.ts'
import { SpeechApiError } from './speech-api-error.ts'
import type { Transcript } from './transcript.ts'

/** A request to the speech API, for whichever HTTP client to send. */
export interface SpeechApiRequest {
  readonly method: 'POST' | 'GET' | 'DELETE'
  /** What stands behind `/transcriptions`. */
  readonly path: string
  readonly recording?: Blob | undefined
  readonly signal?: AbortSignal | undefined
}

export type SendRequest = (request: SpeechApiRequest) => Promise<SpeechApiAnswer>

export interface TranscribeOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the share of a long recording that has been heard, from 0 to 1, or undefined where that is not told. */
  readonly onProgress?: ((share: number | undefined) => void) | undefined
}

/** Answers in a row that may be missed. */
const PATIENCE = 5

/**
 * Has a recording transcribed. A long one the speech API only takes in: then it is asked for the transcript until it
 * is there.
 *
 * @throws {SpeechApiError} or whatever the client throws
 */
export async function transcribeThrough(
  send: SendRequest,
  recording: Blob,
  options: TranscribeOptions = {},
): Promise<Transcript> {
  const answer = await send({ method: 'POST', path: '', recording, signal: options.signal })
  return answer.status === 202 ? follow(send, readJob(answer), options) : readTranscript(answer)
}

async function follow(
  send: SendRequest,
  taken: TranscriptionJob,
  { signal, onProgress }: TranscribeOptions,
): Promise<Transcript> {
  const path = `/${encodeURIComponent(taken.id)}`
  let job = taken
  try {
    for (let missed = 0; ;) {
      if (job.transcript) return job.transcript
      if (job.error) throw job.error
      onProgress?.(job.progress)
      await wait(job.askAgainMs, signal)
      try {
        job = readJob(await send({ method: 'GET', path, signal }))
        missed = 0
      } catch (error) {
        signal?.throwIfAborted()
        if (!mayPass(error) || ++missed > PATIENCE) throw error
      }
    }
  } catch (error) {
    if (error instanceof SpeechApiError && error.status === 404) throw jobLost()
    // Nobody waits for it any more: the speech API need not go on.
    if (!job.error)
      await send({ method: 'DELETE', path, signal: AbortSignal.timeout(2_000) }).catch(() => undefined)
    throw error
  }
}

function jobLost(): SpeechApiError {
  const message = 'The speech API has lost the recording while it was at it: it may have been restarted.'
  return new SpeechApiError(message, 503, 'job_lost')
}

function wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
    if (signal?.aborted) stop()
  })
}
