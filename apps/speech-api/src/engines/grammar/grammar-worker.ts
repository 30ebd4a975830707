import { parentPort } from 'node:worker_threads'
import { ApiError } from '../../api-error.ts'
import type { Transcript } from '../speech-engine.ts'
import { createDecoder, type Decoder } from './decoder.ts'
import { transcribeFile, type TranscribeFileOptions } from './transcribe-file.ts'

/** Sent to the thread, which works on all of its recordings at the same time, an utterance of each in turn. */
export type ThreadRequest =
  | { readonly job: number; readonly path: string; readonly expected: TranscribeFileOptions['expected'] }
  | { readonly job: number; readonly cancel: true }

export type ThreadResponse = { readonly job: number } & (
  | { readonly progress: number }
  | { readonly transcript: Transcript }
  /** The client is the cause. Any other error ends the thread. */
  | { readonly error: Pick<ApiError, 'status' | 'code' | 'message'> }
)

const active = new Map<number, AbortController>()
const loading = createDecoder().then(oneAfterAnother)

/** A decoder can listen to one recording at a time. */
function oneAfterAnother(decoder: Decoder): Decoder {
  let previous: Promise<unknown> = Promise.resolve()
  return {
    knows: (word) => decoder.knows(word),
    hear(samples, grammar) {
      const words = previous.then(() => decoder.hear(samples, grammar))
      previous = words
      return words
    },
  }
}

const respond = (response: ThreadResponse) => parentPort!.postMessage(response, [])

parentPort!.on('message', (request: ThreadRequest) => void handle(request))

async function handle(request: ThreadRequest): Promise<void> {
  const { job } = request
  if ('cancel' in request) return active.get(job)?.abort(new ApiError(499, 'cancelled', 'It was cancelled.'))
  const controller = new AbortController()
  active.set(job, controller)
  try {
    const transcript = await transcribeFile(await loading, request.path, {
      expected: request.expected,
      onProgress: (progress) => respond({ job, progress }),
      signal: controller.signal,
    })
    respond({ job, transcript })
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const { status, code, message } = error
    respond({ job, error: { status, code, message } })
  } finally {
    active.delete(job)
  }
}
