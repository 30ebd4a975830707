/** Why a request was refused. What a client sees of it is decided in `error-body.ts`. */
export type RefusalReason =
  | 'missing_parameter'
  | 'repeated_parameter'
  | 'malformed_parameter'
  | 'credentials_in_query'
  | 'two_authentication_methods'
  | 'malformed_authorization'
  | 'unsupported_grant_type'
  | 'unsupported_content_type'
  | 'malformed_request'
  | 'invalid_client'
  | 'expired_secret'
  | 'application_not_approved'
  | 'token_of_another_client'
  | 'too_many_failures'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'headers_too_large'
  | 'request_too_slow'
  | 'unavailable'
  | 'internal'

export interface RefusalDetails {
  /** A parameter's name out of our own list, never text of the request's. */
  readonly parameter?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly allow?: string | undefined
  /** For log and audit, and only of a client that exists: who knows what people send as their client ID. */
  readonly clientId?: string | undefined
}

export class ProtocolError extends Error {
  readonly reason: RefusalReason
  readonly details: RefusalDetails

  constructor(reason: RefusalReason, details: RefusalDetails = {}) {
    super(reason)
    this.name = 'ProtocolError'
    this.reason = reason
    this.details = details
  }
}
