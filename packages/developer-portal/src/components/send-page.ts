import type { SafeHtml } from '@remix-run/html-template'
import type { FastifyReply } from 'fastify'
import type { PortalResponse } from '../request/portal-request.ts'

export const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The style sheet contains small icons.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

export const pageHeaders = {
  'content-security-policy': contentPolicy.join('; '),
  'x-content-type-options': 'nosniff',
  // Anybody who reads an invitation link can use it.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

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
