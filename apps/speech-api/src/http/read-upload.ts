import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { raceSignal } from 'race-signal'
import type { ExpectedSpeech } from '../engines/speech-engine.ts'
import { createExpectedSpeechFields, type ExpectedSpeechFields } from './expected-speech.ts'
import { ApiError } from './handle-errors.ts'

export interface SlowUploadLimits {
  /** Time to send the headers of a request, in milliseconds.
   * @default 10_000
   */
  readonly headersMs?: number | undefined
  /** Longest pause in an upload, in milliseconds.
   * @default 10_000
   */
  readonly idleMs?: number | undefined
  /** Minimum average rate of an upload. The slowest recording in real time has 8,000 bytes per second.
   * @default 4_000
   */
  readonly minBytesPerSecond?: number | undefined
  /** Time before the minimum rate applies, in milliseconds.
   * @default 5_000
   */
  readonly graceMs?: number | undefined
}

/**
 * Yields an upload as it arrives. Only the time that the server waits for the client counts, so a busy engine does not
 * make an upload slow.
 *
 * @throws {ApiError} 408 if the upload pauses for too long or is too slow
 */
export async function* limitSlowUpload(
  upload: AsyncIterable<Uint8Array>,
  { idleMs = 10_000, minBytesPerSecond = 4_000, graceMs = 5_000 }: SlowUploadLimits,
): AsyncGenerator<Uint8Array> {
  const iterator = upload[Symbol.asyncIterator]()
  let waitedMs = 0
  let bytes = 0
  try {
    for (;;) {
      const rateLimitMs = graceMs + (bytes / minBytesPerSecond) * 1_000 - waitedMs
      const timeout = new AbortController()
      const timer = setTimeout(() => timeout.abort(tooSlow()), Math.max(0, Math.min(idleMs, rateLimitMs)))
      const startedAt = performance.now()
      const next = await raceSignal(iterator.next(), timeout.signal).finally(() => clearTimeout(timer))
      if (next.done) return
      bytes += next.value.length
      waitedMs += performance.now() - startedAt
      yield next.value
    }
  } finally {
    // Not awaited: `return` waits for a pending read.
    iterator.return?.().catch(() => undefined)
  }
}

function tooSlow(): ApiError {
  return new ApiError(408, 'upload_too_slow', 'The upload is too slow or has stopped.', {
    headers: { connection: 'close' },
  })
}

/**
 * Handles request bodies that are not read to the end. A client that sends `Expect: 100-continue` is told to continue
 * only when the body is needed. Any other client is allowed to finish sending, so that it can read the response.
 */
export function handleUnreadBodies(server: FastifyInstance): void {
  server.server.on('checkContinue', (request, response) => server.server.emit('request', request, response))
  server.addHook('onSend', async (request, reply) => {
    // The client may or may not send the body now, so the connection cannot be reused.
    if (expectsContinue(request) && !request.raw.readableDidRead) reply.header('connection', 'close')
  })
  server.addHook('onResponse', async ({ raw }) => {
    if (raw.readableEnded) return
    raw.unpipe()
    raw.resume()
    // A server that is closing has already closed its idle connections; this one was not idle.
    raw.once('end', () => server.server.listening || raw.socket.end())
  })
}

/** Responds with `100 Continue` if the client waits for it. */
function sendContinue(request: FastifyRequest, response: { writeContinue(): void }): void {
  if (expectsContinue(request)) response.writeContinue()
}

function expectsContinue(request: FastifyRequest): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue'
}

const RAW_TYPES = ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'application/octet-stream']
const FIELD = 'file'
const FIELD_BYTES = 131_072
const FORM_OVERHEAD = 2 * FIELD_BYTES // of a form besides the recording

/** Accepts a recording as the whole body or as a field of a form. It is not read yet. */
export function acceptAudio(server: FastifyInstance, maxBytes: number): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(RAW_TYPES, (_request, body, done) => done(null, body))
  server.register(multipart, {
    limits: { fileSize: maxBytes + 1, files: 4, fields: 20, fieldSize: FIELD_BYTES, parts: 24 },
    throwFileSizeLimit: false,
  })
}

/** Rejects a body whose `Content-Length` is too large. */
export function rejectLargeBody(request: FastifyRequest, maxBytes: number): void {
  const form = request.headers['content-type']?.startsWith('multipart/') ?? false
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > maxBytes + (form ? FORM_OVERHEAD : 0)) throw tooLarge(maxBytes)
}

/**
 * Yields the recording of a request as it arrives.
 *
 * @param onExpected called at the beginning of the recording with what it contains, if the request says so
 */
export async function* readUpload(
  reply: FastifyReply,
  maxBytes: number,
  onExpected: (expected: ExpectedSpeech | undefined) => void,
): AsyncGenerator<Uint8Array> {
  const { request } = reply
  const fields = createExpectedSpeechFields()
  for (const [name, value] of Object.entries(request.query as object)) fields.add(name, value)
  sendContinue(request, reply.raw)
  let length = 0
  for await (const audio of recordingsIn(request, fields)) {
    onExpected(fields.read())
    try {
      // Not destroyed when reading stops early: the connection is needed for the response.
      for await (const bytes of audio.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
        length += bytes.length
        if (length > maxBytes) throw tooLarge(maxBytes)
        yield bytes
      }
    } catch (error) {
      throw error instanceof ApiError ? error : malformedUpload(error)
    }
  }
}

/** Yields the body, or the file of a form and then reads the rest of the form: one recording. */
async function* recordingsIn(
  request: FastifyRequest,
  fields: ExpectedSpeechFields,
): AsyncGenerator<Readable> {
  if (!request.isMultipart()) {
    if (!request.body) throw new ApiError(400, 'empty_file', 'The request has no body. Send a WAV file.')
    return yield request.body as Readable
  }
  let found = false
  try {
    for await (const part of request.parts()) {
      if (part.type === 'field') fields.add(part.fieldname, part.value, part.valueTruncated)
      else if (part.fieldname !== FIELD || found) part.file.resume()
      else {
        found = true
        yield part.file
      }
    }
  } catch (error) {
    throw error instanceof ApiError ? error : malformedUpload(error)
  }
  if (!found) throw new ApiError(400, 'file_missing', `The form has no file in the field "${FIELD}".`)
}

function tooLarge(maxBytes: number): ApiError {
  const mebibytes = Math.floor(maxBytes / 1_048_576)
  return new ApiError(413, 'too_large', `The recording is larger than ${mebibytes} MiB.`)
}

function malformedUpload(cause: unknown): ApiError {
  const error = new ApiError(400, 'malformed_upload', 'The upload is malformed or incomplete.')
  error.cause = cause
  return error
}
