import type { Attributes } from '@opentelemetry/api'
import type { TokenEvent } from '@tokenwell/core'

type TokenFailed = Extract<TokenEvent, { type: 'token_failed' }>

/** The names are those of OpenTelemetry's semantic conventions. */
export function failureAttributes({ kind, status }: TokenFailed): Attributes {
  return { 'error.type': kind, ...(status !== undefined && { 'http.response.status_code': status }) }
}
