import type { ErrorAnswer } from './oauth-answers.ts'
import type { ProtocolError, RefusalReason } from './protocol-error.ts'

interface Refusal {
  readonly status: number
  /** RFC 6749 section 5.2, RFC 8628 section 3.5 for `slow_down`. */
  readonly error: string
  readonly description: string
  /** The gateway reports what its own layers refuse as a fault of this code. */
  readonly fault?: string
  /** Where RFC 6749 asks for another status than the gateway's. */
  readonly standardStatus?: number
}

const refusals: Record<RefusalReason, Refusal> = {
  missing_parameter: {
    status: 400,
    error: 'invalid_request',
    description: 'The request is missing a required parameter',
  },
  repeated_parameter: { status: 400, error: 'invalid_request', description: 'A parameter is repeated' },
  malformed_parameter: {
    status: 400,
    error: 'invalid_request',
    description: 'A parameter is malformed',
  },
  credentials_in_query: {
    status: 400,
    error: 'invalid_request',
    description: 'Credentials belong in the form body, not in the address',
  },
  two_authentication_methods: {
    status: 400,
    error: 'invalid_request',
    description: 'Credentials came both in the Authorization header and in the body; send them once',
  },
  malformed_authorization: {
    status: 400,
    error: 'invalid_request',
    description: 'The Authorization header is not well-formed Basic authentication',
  },
  unsupported_grant_type: {
    status: 400,
    error: 'unsupported_grant_type',
    description: 'Unsupported grant type; send client_credentials',
  },
  unsupported_content_type: {
    status: 415,
    error: 'invalid_request',
    description: 'The body must be application/x-www-form-urlencoded',
  },
  malformed_request: { status: 400, error: 'invalid_request', description: 'The request is malformed' },
  invalid_client: { status: 401, error: 'invalid_client', description: 'ClientId is Invalid' },
  expired_secret: { status: 401, error: 'invalid_client', description: 'The client secret has expired' },
  application_not_approved: {
    status: 401,
    standardStatus: 400,
    error: 'unauthorized_client',
    description: 'The application is not approved',
  },
  token_of_another_client: {
    status: 400,
    error: 'invalid_grant',
    description: 'The token was issued to another client',
  },
  too_many_failures: {
    status: 429,
    error: 'slow_down',
    description: 'Too many failed attempts; wait before trying again',
    fault: 'policies.ratelimit.QuotaViolation',
  },
  not_found: {
    status: 404,
    error: 'invalid_request',
    description: 'There is nothing at this path',
    fault: 'messaging.adaptors.http.flow.ApplicationNotFound',
  },
  method_not_allowed: {
    status: 405,
    error: 'invalid_request',
    description: 'This method is not allowed here',
    fault: 'messaging.adaptors.http.flow.MethodNotAllowed',
  },
  body_too_large: {
    status: 413,
    error: 'invalid_request',
    description: 'The body is too large',
    fault: 'protocol.http.TooBigBody',
  },
  headers_too_large: {
    status: 431,
    error: 'invalid_request',
    description: 'The headers are too large',
    fault: 'protocol.http.TooBigHeaders',
  },
  request_too_slow: {
    status: 408,
    error: 'invalid_request',
    description: 'The request did not arrive in time',
    fault: 'messaging.adaptors.http.flow.RequestTimeOut',
  },
  unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    description: 'The service is temporarily unavailable',
    fault: 'messaging.adaptors.http.flow.ServiceUnavailable',
  },
  internal: {
    status: 500,
    error: 'server_error',
    description: 'Internal server error',
    fault: 'messaging.runtime.ScriptExecutionFailed',
  },
}

export type ErrorShape = 'classic' | 'rfc6749'

/** What a client is told: the gateway family's own shapes, or RFC 6749 section 5.2. */
export function errorBody(
  { reason, details }: ProtocolError,
  shape: ErrorShape,
): { status: number; body: ErrorAnswer } {
  const refusal = refusals[reason]
  const description =
    details.parameter === undefined ? refusal.description : `${refusal.description} : ${details.parameter}`
  if (shape === 'rfc6749') {
    const body = { error: refusal.error, error_description: description }
    return { status: refusal.standardStatus ?? refusal.status, body }
  }
  const body =
    refusal.fault === undefined
      ? { ErrorCode: refusal.error, Error: description }
      : { fault: { faultstring: description, detail: { errorcode: refusal.fault } } }
  return { status: refusal.status, body }
}
