import { Readable } from 'node:stream'
import { constants, createBrotliCompress } from 'node:zlib'
import type { SafeHtml } from '@remix-run/html-template'
import type { FastifyReply } from 'fastify'
import type { PortalResponse } from '../portal-request.ts'
import { pageHeaders, acceptsBrotli } from '../static-files.ts'

const compression = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }

/** Sends a page that must not be cached. */
export function sendPage(
  reply: FastifyReply,
  page: SafeHtml,
  {
    status = 200,
    headers = {},
    hasSecrets = true,
  }: Pick<PortalResponse, 'status' | 'headers' | 'hasSecrets'> = {},
): FastifyReply {
  void reply
    .code(status)
    .headers({ ...pageHeaders, 'cache-control': 'no-store', ...headers })
    .type('text/html; charset=utf-8')
  const text = String(page)
  // The length of a compressed page would reveal whether it repeats something that somebody else chose.
  if (hasSecrets || !acceptsBrotli(reply.request)) return reply.send(text)
  return reply
    .headers({ 'content-encoding': 'br', vary: 'accept-encoding' })
    .send(Readable.from([text]).pipe(createBrotliCompress(compression)))
}
