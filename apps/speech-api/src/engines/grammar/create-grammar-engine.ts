import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import { raceSignal } from 'race-signal'
import { ApiError, engineClosed, engineFailed } from '../../api-error.ts'
import type { SpeechEngine, Transcript } from '../speech-engine.ts'
import type { GrammarSpeech } from './listener.ts'
import type { ThreadRequest, ThreadResponse } from './grammar-worker.ts'

interface Thread {
  readonly worker: Worker
  /** By job: takes the messages about it. */
  readonly jobs: Map<number, { respond(response: ThreadResponse): void; fail(error: unknown): void }>
}

/**
 * Creates the engine that recognises English speech of which it is known what may be said: digits, numbers, codes,
 * given phrases, or a whole text. It runs in one thread, which needs about 80 MB, and no other program.
 */
export function createGrammarEngine(): SpeechEngine {
  let thread: Thread | undefined = startThread()
  let lastJob = 0
  let closed = false

  function startThread(): Thread {
    // The extension is that of this file: the line works in the sources and in the build.
    const script = new URL(`./grammar-worker${extname(import.meta.filename)}`, import.meta.url)
    const started: Thread = { worker: new Worker(script), jobs: new Map() }
    const fail = (error: unknown) => {
      if (thread === started) thread = undefined // the next recording starts another one
      for (const job of started.jobs.values()) job.fail(error)
    }
    started.worker.unref()
    started.worker.on('message', (response: ThreadResponse) =>
      started.jobs.get(response.job)?.respond(response),
    )
    started.worker.on('error', (error) => fail(engineFailed(error)))
    started.worker.on('exit', () => fail(engineFailed(new Error('The thread has exited.'))))
    return started
  }

  return {
    name: 'grammar',
    recognises: ['digits', 'numbers', 'codes', 'phrases', 'text'],
    async transcribe(path, { expected, signal, onProgress }) {
      signal.throwIfAborted()
      if (closed) throw engineClosed()
      const { worker, jobs } = (thread ??= startThread())
      const job = ++lastJob
      const send = (request: ThreadRequest) => worker.postMessage(request, [])
      const outcome = Promise.withResolvers<Transcript>()
      jobs.set(job, {
        respond(response) {
          if ('transcript' in response) outcome.resolve(response.transcript)
          else if ('progress' in response) onProgress(response.progress)
          else
            outcome.reject(new ApiError(response.error.status, response.error.code, response.error.message))
        },
        fail: outcome.reject,
      })
      worker.ref() // a transcription keeps the process alive, an idle thread does not
      try {
        send({ job, path, expected: expected as GrammarSpeech })
        return await raceSignal(outcome.promise, signal)
      } finally {
        if (signal.aborted) send({ job, cancel: true })
        jobs.delete(job)
        if (jobs.size === 0) worker.unref()
      }
    },
    async close() {
      closed = true
      const closing = thread
      for (const job of closing?.jobs.values() ?? []) job.fail(engineClosed())
      await closing?.worker.terminate()
    },
  }
}
