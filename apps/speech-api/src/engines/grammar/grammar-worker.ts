import { parentPort } from 'node:worker_threads'
import { AudioError, type AudioErrorCode } from '../../wav/wav-format.ts'
import {
  ExpectedSpeechError,
  type ExpectedSpeech,
  type ExpectedSpeechErrorCode,
  type Transcript,
} from '../speech-engine.ts'
import { createDecoder } from './decoder.ts'
import { createTranscription, type Transcription } from './transcription.ts'

/** Sent to the thread. It responds to each message of a job before the next is sent, but not to `remove`. */
export type ThreadRequest =
  | { readonly kind: 'begin'; readonly job: number; readonly expected: ExpectedSpeech }
  | { readonly kind: 'audio'; readonly job: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end'; readonly job: number }
  | { readonly kind: 'remove'; readonly job: number }

export type ThreadResponse =
  | { readonly kind: 'processed'; readonly job: number; readonly processedSeconds: number }
  | { readonly kind: 'transcribed'; readonly job: number; readonly transcript: Transcript }
  /** Because of what the client has sent. Any other error ends the thread. */
  | { readonly kind: 'rejected'; readonly job: number; readonly error: RejectedInput }

export type RejectedInput =
  | { readonly cause: 'audio'; readonly code: AudioErrorCode; readonly message: string }
  | { readonly cause: 'expected'; readonly code: ExpectedSpeechErrorCode; readonly message: string }

const transcriptions = new Map<number, Transcription>()
const loading = createDecoder()

async function handle(request: ThreadRequest): Promise<ThreadResponse | undefined> {
  const { job } = request
  const decoder = await loading
  try {
    if (request.kind === 'begin') transcriptions.set(job, createTranscription(decoder, request.expected))
    const transcription = transcriptions.get(job)
    if (request.kind === 'remove' || !transcription) return void transcriptions.delete(job)
    if (request.kind === 'end') return { kind: 'transcribed', job, transcript: await transcription.end() }
    if (request.kind === 'audio') await transcription.push(request.bytes)
    return { kind: 'processed', job, processedSeconds: transcription.processedSeconds }
  } catch (error) {
    return { kind: 'rejected', job, error: rejectionOf(error) }
  }
}

function rejectionOf(error: unknown): RejectedInput {
  if (error instanceof AudioError) return { cause: 'audio', code: error.code, message: error.message }
  if (error instanceof ExpectedSpeechError)
    return { cause: 'expected', code: error.code, message: error.message }
  throw error
}

let previous: Promise<void> = Promise.resolve()
parentPort?.on('message', (request: ThreadRequest) => {
  // One after another: a decoder can listen to one recording at a time.
  previous = previous.then(async () => {
    const response = await handle(request)
    if (response) parentPort?.postMessage(response, [])
  })
})
