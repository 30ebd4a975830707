import type { SafeHtml } from '@remix-run/html-template'
import type { FastifyReply } from 'fastify'

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
]

export const pageHeaders = {
  'content-security-policy': policy.join('; '),
  'x-content-type-options': 'nosniff',
  // Anybody who reads an invitation link can use it.
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** Sends a page that must not be cached. */
export function sendPage(reply: FastifyReply, page: SafeHtml | undefined, status = 200): FastifyReply {
  return reply
    .code(status)
    .headers({ ...pageHeaders, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(String(page ?? ''))
}
