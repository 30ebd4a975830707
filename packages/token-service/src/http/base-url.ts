import type { FastifyRequest } from 'fastify'
import { ProtocolError } from './protocol-error.ts'

/** What the client reaches the service by: as configured, or else what it says itself. */
export function baseUrl(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return publicUrl
  const url = `${request.protocol}://${request.host}`
  if (!/^https?:\/\/[\w.:[\]-]+$/.test(url) || !URL.canParse(url))
    throw new ProtocolError('malformed_request')
  return url
}
