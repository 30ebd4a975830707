import type { TokenError } from '@tokenwell/core'
import { headerValue, type ResponseHeaders } from '@tokenwell/core/protocol'

/** A smaller difference may come from a slow response, and servers tolerate it. */
const noticeableSeconds = 20

/** A sentence if this machine's clock differs from that of the server that sent these headers. */
export function explainClockSkew(headers: ResponseHeaders): string | undefined {
  const seconds = Math.round((Date.now() - Date.parse(headerValue(headers, 'date') ?? '')) / 1000)
  if (!(Math.abs(seconds) > noticeableSeconds)) return undefined
  const direction = seconds > 0 ? 'ahead of' : 'behind'
  return `This machine's clock is ${Math.abs(seconds)} s ${direction} the server's. Synchronise this machine's clock (NTP).`
}

export function addSentences(error: TokenError, ...sentences: readonly (string | undefined)[]): void {
  error.message = [error.message, ...sentences].filter(Boolean).join(' ')
}
