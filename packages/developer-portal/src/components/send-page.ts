import type { SafeHtml } from '@remix-run/html-template'
import type { FastifyReply } from 'fastify'
import type { PortalResponse } from '../request/portal-request.ts'
import { pageHeaders } from './page-headers.ts'

/** Sends a page that must not be cached. */
export function sendPage(
  reply: FastifyReply,
  page: SafeHtml | undefined,
  { status = 200, headers = {} }: Pick<PortalResponse, 'status' | 'headers'> = {},
): FastifyReply {
  return reply
    .code(status)
    .headers({ ...pageHeaders, 'cache-control': 'no-store', ...headers })
    .type('text/html; charset=utf-8')
    .send(String(page ?? ''))
}
