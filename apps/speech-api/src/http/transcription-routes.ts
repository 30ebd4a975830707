import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenVerifier } from '@tokenwell/resource-server'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import { ApiError } from '../api-error.ts'
import type { SpeechEngine } from '../engines/speech-engine.ts'
import { openWavFile } from '../wav/wav-file.ts'
import { toApiError, unsupportedMediaType } from './handle-errors.ts'
import type { createJobs, Job } from './jobs.ts'
import { PATH } from './openapi.ts'
import type { RecordingsFolder } from './recordings-folder.ts'
import { formSchema, readForm, StoredRecording, type TranscriptionResponse } from './schemas.ts'

export interface TranscriptionRoutesOptions {
  readonly engine: SpeechEngine
  readonly jobs: ReturnType<typeof createJobs>
  readonly verifier: TokenVerifier
  readonly longAudioSeconds: number
  readonly folder: RecordingsFolder
}

type JobRequest = FastifyRequest<{ Params: { readonly id: string } }>

const MAX_BYTES = 25 * 1_048_576
const MAX_FIELD_BYTES = 131_072

/** `POST /v1/transcriptions` transcribes a recording. The response to a long one does not wait for its transcript. */
export async function transcriptionRoutes(
  server: FastifyInstance,
  { engine, jobs, verifier, longAudioSeconds, folder }: TranscriptionRoutesOptions,
): Promise<void> {
  const schema = formSchema(engine)
  server.removeAllContentTypeParsers()
  server.register(multipart, {
    limits: { fileSize: MAX_BYTES, files: 1, fieldSize: MAX_FIELD_BYTES, fields: 10 },
  })
  server.register(resourceServer, { verifier, products: ['speech-to-text'] }) // before any of the body is read
  server.addHook('onRequest', async (request, reply) => {
    request.log.info({ clientId: request.accessToken?.clientId }, 'authorized')
    reply.header('cache-control', 'no-store')
  })

  server.post(PATH, async (request, reply): Promise<TranscriptionResponse> => {
    jobs.checkCapacity()
    const path = await folder.newPath()
    let job: Job
    let isLong: boolean
    try {
      const expected = readForm(schema, await storeForm(request, path))
      await using recording = await openWavFile(path)
      isLong = recording.durationSeconds > longAudioSeconds
      job = jobs.start(request.accessToken?.clientId, path, expected)
    } catch (error) {
      await rm(path, { force: true })
      throw error
    }
    if (isLong) {
      reply.code(202).header('location', `${PATH}/${job.id}`)
      return respondWith(job, reply)
    }
    reply.raw.once('close', () => reply.raw.writableFinished || jobs.remove(job)) // the client has gone
    await job.finished
    if (job.error) throw job.error
    return respondWith(job, reply)
  })

  server.get(`${PATH}/:id`, async (request: JobRequest, reply): Promise<TranscriptionResponse> =>
    respondWith(jobs.find(request.accessToken?.clientId, request.params.id), reply),
  )

  server.delete(`${PATH}/:id`, async (request: JobRequest, reply): Promise<void> => {
    jobs.remove(jobs.find(request.accessToken?.clientId, request.params.id))
    reply.code(204)
  })
}

/** Stores the recording at `path`, and returns the fields of the form. */
async function storeForm(request: FastifyRequest, path: string): Promise<Record<string, unknown>> {
  if (!request.isMultipart()) throw unsupportedMediaType()
  const form: Record<string, unknown> = {}
  for await (const part of request.parts()) {
    const { fieldname } = part
    if (part.type === 'file') await pipeline(part.file, createWriteStream(path))
    else if (part.valueTruncated)
      throw new ApiError(413, 'too_large', `The field "${fieldname}" is too large.`)
    if (Object.hasOwn(form, fieldname))
      throw new ApiError(400, 'invalid_field', `The field "${fieldname}" is repeated.`)
    form[fieldname] = part.type === 'file' ? new StoredRecording(path) : part.value
  }
  return form
}

function respondWith(job: Job, reply: FastifyReply): TranscriptionResponse {
  const { id, progress, transcript, error } = job
  const { expected } = job.expected
  if (transcript) {
    const text = transcript.segments.map((segment) => segment.text).join(' ')
    return { id, state: 'done', expected, text, ...transcript }
  }
  if (error !== undefined) {
    const { status, code, message } = toApiError(error)
    return { id, state: 'failed', expected, error: { status, code, message } }
  }
  reply.header('retry-after', 1)
  return { id, state: 'running', expected, progress: Math.round(progress * 1_000) / 1_000 }
}
