import { createHash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { TokenVerifier } from '@tokenwell/resource-server'
import { resourceServer } from '@tokenwell/resource-server/fastify'
import {
  type ExpectedSpeech,
  type SpeechSegment,
  type Transcript,
  type TranscriptWarning,
  EngineBusyError,
  type SpeechEngine,
} from '../engines/speech-engine.ts'
import type { JobStore } from '../jobs/job-store.ts'
import { type Job, createFairShare } from '../jobs/run-job.ts'
import { readDuration } from '../wav/wav-reader.ts'
import { toApiError, abortOnDisconnect, ApiError } from './handle-errors.ts'
import {
  limitSlowUpload,
  type SlowUploadLimits,
  acceptAudio,
  readUpload,
  rejectLargeBody,
} from './read-upload.ts'

export interface TranscriptionResponse {
  readonly text: string
  readonly durationSeconds: number
  readonly language: 'en'
  readonly segments: readonly SpeechSegment[]
  /** What the engine listened for. Missing if it transcribes any speech. */
  readonly grammar?: ExpectedSpeech['grammar'] | undefined
  /** Whether part of the recording sounds unlike what was expected. Missing if the engine does not report it. */
  readonly uncertain?: boolean | undefined
  readonly warnings: readonly TranscriptWarning[]
}

export interface JobResponse {
  readonly id: string
  readonly state: 'waiting' | 'running' | 'done' | 'failed'
  /** From 0 to 1. Missing if it is unknown. */
  readonly progress?: number | undefined
  /** Present when the state is `done`. */
  readonly result?: TranscriptionResponse | undefined
  /** Present when the state is `failed`: status and error of the response that a short recording would have got. */
  readonly error?: { readonly status: number; readonly code: string; readonly message: string } | undefined
}

function toTranscriptionResponse(transcript: Transcript): TranscriptionResponse {
  const { durationSeconds, segments, grammar, uncertain, warnings = [] } = transcript
  const text = segments.map((segment) => segment.text).join(' ')
  return { text, durationSeconds, language: 'en', segments, grammar, uncertain, warnings }
}

function toJobResponse(job: Readonly<Job>): JobResponse {
  const { id, state, seconds, processedSeconds, transcript, error } = job
  if (transcript) return { id, state, progress: 1, result: toTranscriptionResponse(transcript) }
  if (state === 'failed') {
    const { statusCode, code, message } = toApiError(error)
    return { id, state, error: { status: statusCode, code, message } }
  }
  const progress = seconds && Math.round(Math.min(1, processedSeconds / seconds) * 1_000) / 1_000
  return { id, state, progress }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The client that the access token belongs to. */
    caller: string
  }
}

export interface TranscriptionRoutesOptions {
  readonly engine: SpeechEngine
  readonly jobs: JobStore
  readonly verifier: TokenVerifier
  /** The API product that a token must cover. */
  readonly product: string
  readonly maxBytes: number
  readonly longAudioSeconds: number
  readonly slowUploads: SlowUploadLimits
}

type JobRequest = FastifyRequest<{ Params: { readonly id: string } }>

const PATH = '/v1/transcriptions'
const POLL_INTERVAL_SECONDS = 1
const DEFAULT_CAPACITY = 32

/** `POST /v1/transcriptions` transcribes a recording; a long one, or any if the client prefers that, as a job. */
export async function transcriptionRoutes(
  server: FastifyInstance,
  { engine, jobs, verifier, product, maxBytes, longAudioSeconds, slowUploads }: TranscriptionRoutesOptions,
): Promise<void> {
  const share = createFairShare()
  const takePlace = (client: string) => {
    const free = (engine.capacity ?? DEFAULT_CAPACITY) - share.active - jobs.running
    if (engine.busy || free <= 0) throw new EngineBusyError('The engine is busy.')
    return share.take(client, free)
  }
  acceptAudio(server, maxBytes)
  server.decorateRequest('caller', '')
  server.register(resourceServer, { verifier, products: [product] }) // before any of the body is read
  server.addHook('onRequest', async (request, reply) => {
    request.caller = callerOf(request)
    request.log.info({ clientId: request.accessToken?.clientId }, 'authorized')
    rejectLargeBody(request, maxBytes)
    reply.header('cache-control', 'no-store')
  })

  server.post(PATH, async (request, reply): Promise<TranscriptionResponse | JobResponse> => {
    const freePlace = takePlace(request.caller)
    const signal = abortOnDisconnect(reply)
    const length = Number(request.headers['content-length']) || undefined
    let expected: ExpectedSpeech | undefined
    const read = readUpload(reply, maxBytes, (found) => (expected = found))
    const upload = limitSlowUpload(read, slowUploads)
    try {
      const { audio, seconds } = await readDuration(upload, length)
      const asynchronous = prefersAsync(request)
      if (!asynchronous && (seconds ?? 0) <= longAudioSeconds) {
        const transcript = await engine.transcribe(audio, { signal, expected })
        const { durationSeconds, segments } = transcript
        request.log.info({ durationSeconds, segments: segments.length }, 'transcribed')
        return toTranscriptionResponse(transcript)
      }
      freePlace() // jobs have separate places
      const job = await jobs.add(request.caller, { audio, seconds, expected }, signal)
      if (asynchronous) reply.header('preference-applied', 'respond-async')
      reply.code(202).header('location', `${PATH}/${job.id}`)
      return respondWithJob(job, reply)
    } finally {
      freePlace()
      // Not awaited: `return` waits for a pending read.
      upload.return(undefined).catch(() => undefined)
    }
  })

  server.get(`${PATH}/:id`, async (request: JobRequest, reply): Promise<JobResponse> => {
    const job = jobs.find(request.caller, request.params.id)
    if (!job) throw transcriptionNotFound()
    return respondWithJob(job, reply)
  })

  server.delete(`${PATH}/:id`, async (request: JobRequest, reply): Promise<void> => {
    if (!jobs.remove(request.caller, request.params.id)) throw transcriptionNotFound()
    reply.code(204)
  })
}

/** A token without a client counts as a separate client. */
function callerOf({ accessToken, headers }: FastifyRequest): string {
  if (accessToken?.clientId !== undefined) return `client ${accessToken.clientId}`
  return `token ${createHash('sha256').update(headers.authorization!).digest('hex')}`
}

function respondWithJob(job: Readonly<Job>, reply: FastifyReply): JobResponse {
  const response = toJobResponse(job)
  const active = response.state === 'waiting' || response.state === 'running'
  if (active) reply.header('retry-after', POLL_INTERVAL_SECONDS)
  return response
}

/** `Prefer: respond-async` (RFC 7240, section 4.1). */
function prefersAsync({ headers }: FastifyRequest): boolean {
  return [headers['prefer'] ?? []]
    .flat()
    .flatMap((header) => header.split(','))
    .some((preference) => preference.trim().toLowerCase() === 'respond-async')
}

function transcriptionNotFound(): ApiError {
  const message =
    'The transcription does not exist: it has expired, was cancelled, or belongs to another client.'
  return new ApiError(404, 'transcription_not_found', message)
}
