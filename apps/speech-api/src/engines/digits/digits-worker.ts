import { parentPort } from 'node:worker_threads'
import { AudioError } from '../../wav/audio-error.ts'
import { createDigitTranscription, type DigitTranscription } from './digit-transcription.ts'
import type { Bandwidth } from './features/bandwidth.ts'
import { type DigitTemplates, loadDigitTemplates } from './recognition/digit-templates.ts'
import type { ThreadRequest, ThreadResponse } from './thread-messages.ts'

const transcriptions = new Map<number, DigitTranscription>()
const loaded = new Map<Bandwidth, DigitTemplates>()

function templatesFor(bandwidth: Bandwidth): DigitTemplates {
  const templates = loaded.get(bandwidth) ?? loadDigitTemplates(bandwidth)
  loaded.set(bandwidth, templates)
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
