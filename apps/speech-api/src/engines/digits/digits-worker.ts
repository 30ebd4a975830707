import { parentPort, workerData } from 'node:worker_threads'
import { AudioError } from '../../wav/wav-format.ts'
import {
  createDigitTranscription,
  type DigitTranscription,
  type LoadedTemplates,
  type ThreadRequest,
  type ThreadResponse,
} from './digit-transcription.ts'
import type { Bandwidth } from './features/feature-frames.ts'
import { type DigitTemplates, loadDigitTemplates } from './recognition/digit-templates.ts'

const transcriptions = new Map<number, DigitTranscription>()
/** Begins with those that another thread has loaded. */
const loaded = workerData as Map<Bandwidth, DigitTemplates>

function templatesFor(bandwidth: Bandwidth): DigitTemplates {
  const known = loaded.get(bandwidth)
  if (known) return known
  const templates = loadDigitTemplates(bandwidth)
  loaded.set(bandwidth, templates)
  parentPort?.postMessage({ kind: 'loaded', bandwidth, templates } satisfies LoadedTemplates, [])
  return templates
}

function handle(request: ThreadRequest): ThreadResponse | undefined {
  const { job } = request
  if (request.kind === 'remove') {
    transcriptions.delete(job)
    return undefined
  }
  try {
    const transcription = transcriptions.get(job) ?? createDigitTranscription(templatesFor)
    transcriptions.set(job, transcription)
    if (request.kind === 'end') return { kind: 'transcribed', job, transcript: transcription.end() }
    transcription.push(request.bytes)
    return { kind: 'processed', job, processedSeconds: transcription.processedSeconds }
  } catch (error) {
    const code = error instanceof AudioError ? error.code : undefined
    return { kind: 'failed', job, code, message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (request: ThreadRequest) => {
  const response = handle(request)
  if (response) parentPort?.postMessage(response, [])
})
templatesFor('wide') // nearly every recording needs it: loaded before the first one arrives
