import type { FastifyRequest } from 'fastify'
import { ProtocolError } from '../protocol/protocol-error.ts'

/** The URL that clients use: as configured, or from the request. */
export function baseUrl(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const url = `${request.protocol}://${request.host}`
  if (!/^https?:\/\/[\w.:[\]-]+$/.test(url) || !URL.canParse(url))
    throw new ProtocolError('malformed_request')
  return url
}
