import type { ErrorResponse } from './oauth-responses.ts'
import {
  errorDescriptions,
  type ErrorDescription,
  type Format,
  type ProtocolError,
} from './protocol-error.ts'

/** The response to an error: in the platform's own formats, or in that of RFC 6749, section 5.2. */
export function errorBody(
  { reason, details }: ProtocolError,
  format: Format,
): { status: number; body: ErrorResponse } {
  const known: ErrorDescription = errorDescriptions[reason]
  const description =
    details.parameter === undefined ? known.description : `${known.description} : ${details.parameter}`
  if (format === 'standard') {
    const body = { error: known.error, error_description: description }
    return { status: known.standardStatus ?? known.status, body }
  }
  const body =
    known.fault === undefined
      ? { ErrorCode: known.error, Error: description }
      : { fault: { faultstring: description, detail: { errorcode: known.fault } } }
  return { status: known.status, body }
}
