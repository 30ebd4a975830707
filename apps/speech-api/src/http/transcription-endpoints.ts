import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { BearerGuard } from '../authorization/bearer-guard.ts'
import type { Job } from '../jobs/job.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { EngineBusyError, type SpeechEngine } from '../speech-engine.ts'
import { readAnnouncedLength } from '../wav/announced-length.ts'
import { ApiError } from './api-error.ts'
import { clientSignal } from './client-signal.ts'
import {
  type JobAnswer,
  jobAnswer,
  type TranscriptionAnswer,
  transcriptionAnswer,
} from './transcription-answer.ts'
import { acceptAudio, refuseLargeBody, uploadedAudio } from './uploaded-audio.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose access token came with it. */
    caller: string
  }
}

export interface TranscriptionOptions {
  readonly engine: SpeechEngine
  readonly jobs: JobStore
  readonly guard: BearerGuard
  readonly maxBytes: number
  readonly longAudioSeconds: number
}

type JobRequest = FastifyRequest<{ Params: { readonly id: string } }>

const PATH = '/v1/transcriptions'
const ASK_AGAIN_SECONDS = 1

/** `POST /v1/transcriptions`: a recording in, the words in it out; if it is long, or the client likes it so, as a job. */
export async function transcriptionEndpoints(
  server: FastifyInstance,
  { engine, jobs, guard, maxBytes, longAudioSeconds }: TranscriptionOptions,
): Promise<void> {
  acceptAudio(server, maxBytes)
  server.decorateRequest('caller', '')
  server.addHook('onRequest', async (request, reply) => {
    request.caller = await guard(request) // before a byte of the body is read
    refuseLargeBody(request, maxBytes)
    reply.header('cache-control', 'no-store')
  })

  server.post(PATH, async (request, reply): Promise<TranscriptionAnswer | JobAnswer> => {
    if (engine.busy) throw new EngineBusyError('The engine is busy.')
    const signal = clientSignal(reply)
    const length = Number(request.headers['content-length']) || undefined
    const upload = uploadedAudio(reply, maxBytes)
    try {
      const { audio, seconds } = await readAnnouncedLength(upload, length)
      const later = prefersLater(request)
      if (!later && (seconds ?? 0) <= longAudioSeconds) {
        const transcript = await engine.transcribe(audio, { signal })
        const { durationSeconds, segments } = transcript
        request.log.info({ durationSeconds, segments: segments.length }, 'transcribed')
        return transcriptionAnswer(transcript)
      }
      const job = await jobs.add(request.caller, { audio, seconds }, signal)
      if (later) reply.header('preference-applied', 'respond-async')
      reply.code(202).header('location', `${PATH}/${job.id}`)
      return answerWith(job, reply)
    } finally {
      // Whoever has not read it to its end leaves it; not awaited, for a read may still be waiting.
      upload.return(undefined).catch(() => undefined)
    }
  })

  server.get(`${PATH}/:id`, async (request: JobRequest, reply): Promise<JobAnswer> => {
    const job = jobs.find(request.caller, request.params.id)
    if (!job) throw unknownJob()
    return answerWith(job, reply)
  })

  server.delete(`${PATH}/:id`, async (request: JobRequest, reply): Promise<void> => {
    if (!jobs.remove(request.caller, request.params.id)) throw unknownJob()
    reply.code(204)
  })
}

function answerWith(job: Readonly<Job>, reply: FastifyReply): JobAnswer {
  const answer = jobAnswer(job)
  if (answer.state === 'waiting' || answer.state === 'running') reply.header('retry-after', ASK_AGAIN_SECONDS)
  return answer
}

/** `Prefer: respond-async` (RFC 7240, section 4.1). */
function prefersLater({ headers }: FastifyRequest): boolean {
  return [headers['prefer'] ?? []]
    .flat()
    .flatMap((header) => header.split(','))
    .some((preference) => preference.trim().toLowerCase() === 'respond-async')
}

function unknownJob(): ApiError {
  const message = 'There is no such transcription: it has expired, or was cancelled, or is not yours.'
  return new ApiError(404, 'unknown_transcription', message)
}
