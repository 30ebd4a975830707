/** What requests and errors look like: as the platform has them, or as RFC 6749 has them. */
export type Format = 'platform' | 'standard'

/** Why a request was rejected; `error-body.ts` maps it to the response. */
export type ErrorReason =
  | 'missing_parameter'
  | 'repeated_parameter'
  | 'malformed_parameter'
  | 'credentials_in_query'
  | 'two_authentication_methods'
  | 'malformed_authorization'
  | 'grant_type_not_in_query'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'
  | 'unsupported_content_type'
  | 'unsupported_content_encoding'
  | 'malformed_request'
  | 'invalid_scope'
  | 'scopes_of_several_resources'
  | 'invalid_target'
  | 'invalid_authorization_details'
  | 'invalid_client'
  | 'missing_credentials'
  | 'expired_secret'
  | 'invalid_assertion'
  | 'client_not_identified'
  | 'missing_dpop_proof'
  | 'invalid_dpop_proof'
  | 'key_set_unavailable'
  | 'invalid_grant'
  | 'identity_not_mapped'
  | 'application_not_approved'
  | 'token_of_another_client'
  | 'too_many_failures'
  | 'not_found'
  | 'method_not_allowed'
  | 'body_too_large'
  | 'headers_too_large'
  | 'request_too_slow'
  | 'overloaded'
  | 'unavailable'
  | 'internal'

export interface ErrorDetails {
  /** A parameter's name from our own list, never text from the request. */
  readonly parameter?: string | undefined
  readonly retryAfterSeconds?: number | undefined
  readonly allow?: string | undefined
  readonly acceptEncoding?: string | undefined
  /** For log and audit; only of an existing client, because a client ID in a request may be anything. */
  readonly clientId?: string | undefined
}

export class ProtocolError extends Error {
  readonly reason: ErrorReason
  readonly details: ErrorDetails

  constructor(reason: ErrorReason, details: ErrorDetails = {}) {
    super(reason)
    this.name = 'ProtocolError'
    this.reason = reason
    this.details = details
  }
}
