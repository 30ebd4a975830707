import { parentPort } from 'node:worker_threads'
import { AudioError } from '../audio-error.ts'
import type { Bandwidth } from './bandwidth.ts'
import { type DigitTemplates, loadDigitTemplates } from './digit-templates.ts'
import { createDigitTranscription, type DigitTranscription } from './digit-transcription.ts'
import type { Answer, Question } from './worker-messages.ts'

const transcriptions = new Map<number, DigitTranscription>()
const loaded = new Map<Bandwidth, DigitTemplates>()

function templatesFor(bandwidth: Bandwidth): DigitTemplates {
  const templates = loaded.get(bandwidth) ?? loadDigitTemplates(bandwidth)
  loaded.set(bandwidth, templates)
  return templates
}

function answer(question: Question): Answer | undefined {
  const { job } = question
  if (question.kind === 'forget') {
    transcriptions.delete(job)
    return undefined
  }
  try {
    const transcription = transcriptions.get(job) ?? createDigitTranscription(templatesFor)
    transcriptions.set(job, transcription)
    if (question.kind === 'end') return { kind: 'heard', job, transcript: transcription.end() }
    transcription.push(question.bytes)
    return { kind: 'taken', job, heardSeconds: transcription.heardSeconds }
  } catch (error) {
    const code = error instanceof AudioError ? error.code : undefined
    return { kind: 'failed', job, code, message: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (question: Question) => {
  const reply = answer(question)
  if (reply) parentPort?.postMessage(reply, [])
})
templatesFor('wide') // what nearly every recording needs, before the first one comes
