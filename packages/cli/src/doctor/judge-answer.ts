import type { AccessToken } from '@tokenwell/core'
import type { Connection } from '../connection/resolve-connection.ts'
import { duration } from './duration.ts'
import type { Exchange } from './exchange.ts'
import { findingsOf, type Finding } from './finding.ts'

const answer = findingsOf('answer')
const slowMs = 1000

/** The members of the answer as they came. */
export type RawAnswer = Readonly<Record<string, unknown>>

/** How an answer with a token looks: which form, how fast, what it says about caches and scope. */
export function judgeAnswer(
  exchange: Exchange,
  raw: RawAnswer,
  { response }: AccessToken,
  { scope }: Connection,
): Finding[] {
  const { headers, durationMs } = exchange
  const findings = [describeForm(raw, exchange)]
  if (durationMs > slowMs) {
    findings.push(
      answer.warning(
        'slow',
        `The answer took ${duration(durationMs)}.`,
        'Callers wait for that once, at the start; later tokens are renewed behind the use of the old one.',
      ),
    )
  }
  const type = headers?.get('content-type') ?? 'none'
  if (!/json/i.test(type)) {
    findings.push(
      answer.warning(
        'content_type',
        `The answer is JSON, but its content type is ${type}.`,
        'Other clients may refuse it: the service should send application/json (RFC 6749, section 5.1).',
      ),
    )
  }
  findings.push(judgeCaching(headers?.get('cache-control')))
  const missing = [scope ?? []]
    .flat()
    .join(' ')
    .split(' ')
    .filter((name) => name && !response.scope.includes(name))
  if (response.scope.length > 0 && missing.length > 0) {
    findings.push(
      answer.warning(
        'scope_narrowed',
        `The token does not have what was asked for: ${missing.join(', ')}.`,
        'Check what the application may have.',
      ),
    )
  }
  return findings
}

function describeForm(raw: RawAnswer, { status, durationMs }: Exchange): Finding {
  const has = (...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(raw, name))
  const form = has('api_product_list', 'api_product_list_json')
    ? "the platform's form with products"
    : has('level', 'refresh_count')
      ? "the platform's form with level and refresh token"
      : "RFC 6749's form"
  return answer.ok('token', `A token came (status ${status}, ${duration(durationMs)}), in ${form}.`)
}

/** RFC 6749, section 5.1. */
function judgeCaching(header: string | null | undefined): Finding {
  if (/\bno-store\b/i.test(header ?? ''))
    return answer.ok('no_store', 'The answer forbids caches to keep it.')
  return answer.warning(
    'no_store_missing',
    `The answer does not say no-store (Cache-Control: ${header || 'none'}): a cache in between may keep the token, and give it to others.`,
    'The service has to send Cache-Control: no-store with tokens.',
  )
}
