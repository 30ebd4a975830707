import type { IncomingHttpHeaders } from 'node:http'

/** Whether a client takes compressed responses. */
export function acceptsBrotli({ headers }: { readonly headers: IncomingHttpHeaders }): boolean {
  return /\bbr\b/.test(headers['accept-encoding'] ?? '')
}
