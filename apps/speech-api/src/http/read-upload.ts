import type { Readable } from 'node:stream'
import multipart from '@fastify/multipart'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from './api-error.ts'
import { sendContinue } from './unread-body.ts'

const RAW_TYPES = ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave', 'application/octet-stream']
const FIELD = 'file'
const FORM_OVERHEAD = 65_536 // bytes of a form besides the recording

/** Accepts a recording as the whole body or as a field of a form. It is not read yet. */
export function acceptAudio(server: FastifyInstance, maxBytes: number): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(RAW_TYPES, (_request, body, done) => done(null, body))
  server.register(multipart, {
    limits: { fileSize: maxBytes + 1, files: 4, fields: 20, fieldSize: FORM_OVERHEAD, parts: 24 },
    throwFileSizeLimit: false,
  })
}

/** Rejects a body whose `Content-Length` is too large. */
export function rejectLargeBody(request: FastifyRequest, maxBytes: number): void {
  const form = request.headers['content-type']?.startsWith('multipart/') ?? false
  const length = Number(request.headers['content-length'] ?? 0)
  if (length > maxBytes + (form ? FORM_OVERHEAD : 0)) throw tooLarge(maxBytes)
}

/** Yields the recording of a request as it arrives. */
export async function* readUpload(reply: FastifyReply, maxBytes: number): AsyncGenerator<Uint8Array> {
  const { request } = reply
  sendContinue(request, reply.raw)
  const audio = request.isMultipart() ? await findFile(request) : (request.body as Readable | undefined)
  if (!audio) throw new ApiError(400, 'empty_file', 'The request has no body. Send a WAV file.')
  let length = 0
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

async function findFile(request: FastifyRequest): Promise<Readable> {
  try {
    for await (const part of request.parts()) {
      if (part.type !== 'file') continue
      if (part.fieldname === FIELD) return part.file
      part.file.resume()
    }
  } catch (error) {
    throw malformedUpload(error)
  }
  throw new ApiError(400, 'file_missing', `The form has no file in the field "${FIELD}".`)
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
