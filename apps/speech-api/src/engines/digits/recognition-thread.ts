import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { AudioError } from '../../wav/wav-format.ts'
import type {
  LoadedTemplates,
  SuccessfulResponse,
  ThreadRequest,
  ThreadResponse,
} from './digit-transcription.ts'
import type { Bandwidth } from './features/feature-frames.ts'
import type { DigitTemplates } from './recognition/digit-templates.ts'

export interface RecognitionThread {
  /** Number of transcriptions in progress. */
  readonly jobs: number
  /** Whether the thread has exited, which fails all of its jobs. */
  readonly exited: boolean
  add(job: number): void
  send(request: ThreadRequest): Promise<SuccessfulResponse>
  remove(job: number): void
  stop(): Promise<void>
}

/** Loading them takes a second: the first thread sends them, and later ones start with them. */
const templates = new Map<Bandwidth, DigitTemplates>()

/** Starts a thread that transcribes several recordings at the same time, a piece of each in turn. */
export function createRecognitionThread(): RecognitionThread {
  // The extension is that of this file: the line works in the sources and in the build.
  const script = new URL(`./digits-worker${extname(import.meta.filename)}`, import.meta.url)
  const worker = new Worker(script, { workerData: templates })
  const jobs = new Set<number>()
  const pending = new Map<number, PromiseWithResolvers<SuccessfulResponse>>()
  let failure: Error | undefined
  worker.unref()

  const fail = (error: Error) => {
    failure ??= error
    for (const { reject } of pending.values()) reject(failure)
    pending.clear()
  }
  worker.on('error', (error) => fail(new Error('The recognition thread failed.', { cause: error })))
  worker.on('exit', () => fail(new Error('The recognition thread exited.')))
  worker.on('message', (response: ThreadResponse | LoadedTemplates) => {
    if (response.kind === 'loaded') return void templates.set(response.bandwidth, response.templates)
    const request = pending.get(response.job)
    pending.delete(response.job)
    if (response.kind !== 'failed') request?.resolve(response)
    else {
      const { code, message } = response
      request?.reject(code ? new AudioError(code, message) : new Error(message))
    }
  })

  return {
    get jobs() {
      return jobs.size
    },
    get exited() {
      return failure !== undefined
    },
    add(job) {
      jobs.add(job)
      worker.ref() // a transcription keeps the process alive, an idle thread does not
    },
    send(request) {
      if (failure) return Promise.reject(failure)
      const response = Promise.withResolvers<SuccessfulResponse>()
      pending.set(request.job, response)
      worker.postMessage(request, request.kind === 'audio' ? [request.bytes.buffer] : [])
      return response.promise
    },
    remove(job) {
      pending.delete(job)
      jobs.delete(job)
      if (!failure) worker.postMessage({ kind: 'remove', job } satisfies ThreadRequest, [])
      if (jobs.size === 0) worker.unref()
    },
    async stop() {
      await worker.terminate()
    },
  }
}
