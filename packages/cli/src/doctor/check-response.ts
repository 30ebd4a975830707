import type { AccessToken } from '@tokenwell/core'
import type { Connection } from '../configuration/resolve-connection.ts'
import { findingsOf, type Finding } from './finding.ts'
import { formatDuration } from './durations.ts'
import type { ObservedRequest } from './observe-token-request.ts'

const response = findingsOf('response')
const slowMs = 1000

/** The members of the token response as they were received. */
export type RawResponse = Readonly<Record<string, unknown>>

/** Checks the format, the duration, the caching headers and the scope of a token response. */
export function checkResponse(
  observed: ObservedRequest,
  raw: RawResponse,
  token: AccessToken,
  { scope }: Connection,
): Finding[] {
  const { headers, durationMs } = observed
  const findings = [describeForm(raw, observed)]
  if (durationMs > slowMs) {
    findings.push(
      response.warning(
        'slow',
        `The response took ${formatDuration(durationMs)}.`,
        'Only the first callers wait for it; later tokens are refreshed in the background.',
      ),
    )
  }
  const type = headers?.get('content-type') ?? 'missing'
  if (!/json/i.test(type)) {
    findings.push(
      response.warning(
        'content_type',
        `The response is JSON, but its content type is ${type}.`,
        'Other clients may reject it: the service should send application/json (RFC 6749, section 5.1).',
      ),
    )
  }
  findings.push(checkCaching(headers?.get('cache-control')))
  const granted = token.response.scope
  const missing = [scope ?? []]
    .flat()
    .join(' ')
    .split(' ')
    .filter((name) => name && !granted.includes(name))
  if (granted.length > 0 && missing.length > 0) {
    findings.push(
      response.warning(
        'scope_narrowed',
        `The token lacks requested scopes: ${missing.join(', ')}.`,
        'Check which scopes the application is allowed to request.',
      ),
    )
  }
  return findings
}

function describeForm(raw: RawResponse, { status, durationMs }: ObservedRequest): Finding {
  const has = (...names: readonly string[]): boolean => names.some((name) => Object.hasOwn(raw, name))
  const format = has('api_product_list', 'api_product_list_json')
    ? "the platform's format with products"
    : has('level', 'refresh_count')
      ? "the platform's format with level and refresh token"
      : 'the format of RFC 6749'
  return response.ok(
    'token',
    `The endpoint returned a token (status ${status}, ${formatDuration(durationMs)}) in ${format}.`,
  )
}

/** RFC 6749, section 5.1. */
function checkCaching(header: string | null | undefined): Finding {
  if (/\bno-store\b/i.test(header ?? ''))
    return response.ok('no_store', 'The response forbids caching (no-store).')
  return response.warning(
    'no_store_missing',
    `The response lacks no-store (Cache-Control: ${header || 'missing'}): an intermediate cache may store the token and return it to other clients.`,
    'The service should send Cache-Control: no-store with tokens.',
  )
}
