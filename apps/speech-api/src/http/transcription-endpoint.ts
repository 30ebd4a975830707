import type { FastifyInstance } from 'fastify'
import type { BearerGuard } from '../authorization/bearer-guard.ts'
import type { SpeechEngine, SpeechSegment } from '../speech-engine.ts'
import { clientSignal } from './client-signal.ts'
import { acceptAudio, refuseLargeBody, uploadedAudio } from './uploaded-audio.ts'

export interface TranscriptionAnswer {
  readonly text: string
  readonly durationSeconds: number
  readonly language: 'en'
  readonly segments: readonly SpeechSegment[]
}

export interface TranscriptionOptions {
  readonly engine: SpeechEngine
  readonly guard: BearerGuard
  readonly maxBytes: number
}

/** `POST /v1/transcriptions`: a recording in, the words in it out. */
export async function transcriptionEndpoint(
  server: FastifyInstance,
  { engine, guard, maxBytes }: TranscriptionOptions,
): Promise<void> {
  acceptAudio(server, maxBytes)
  server.addHook('onRequest', async (request) => {
    await guard(request) // before a byte of the body is read
    refuseLargeBody(request, maxBytes)
  })
  server.post('/v1/transcriptions', async (request, reply): Promise<TranscriptionAnswer> => {
    const signal = clientSignal(reply)
    const { durationSeconds, segments } = await engine.transcribe(uploadedAudio(reply, maxBytes), {
      signal,
    })
    request.log.info({ durationSeconds, segments: segments.length }, 'transcribed')
    reply.header('cache-control', 'no-store')
    return { text: segments.map(({ text }) => text).join(' '), durationSeconds, language: 'en', segments }
  })
}
