/** What requests and errors look like: as the platform has them, or as RFC 6749 has them. */
export type Format = 'platform' | 'standard'

export interface ErrorDescription {
  readonly status: number
  /**
   * As in RFC 6749, section 5.2; `slow_down` is from RFC 8628, section 3.5, `invalid_target` from RFC 8707,
   * `invalid_authorization_details` from RFC 9396, section 5, `invalid_dpop_proof` from RFC 9449, section 5.
   */
  readonly error: string
  readonly description: string
  /** The code of the fault, where the platform reports one. */
  readonly fault?: string
  /** Set where RFC 6749 requires a status other than the platform's. */
  readonly standardStatus?: number
}

/** Why a request is rejected, and the response to it. */
export const errorDescriptions = {
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
    description: 'Credentials must be sent in the form body, not in the URL',
  },
  two_authentication_methods: {
    status: 400,
    error: 'invalid_request',
    description: 'The request contains more than one kind of client credentials; send one',
  },
  malformed_authorization: {
    status: 400,
    error: 'invalid_request',
    description: 'The Authorization header is not well-formed Basic authentication',
  },
  grant_type_not_in_query: {
    status: 400,
    error: 'invalid_request',
    description: 'grant_type must be sent in the query of the URL',
  },
  unsupported_grant_type: {
    status: 400,
    error: 'unsupported_grant_type',
    description: 'Unsupported grant type; use client_credentials',
  },
  unsupported_response_type: {
    status: 400,
    error: 'unsupported_response_type',
    description: 'Nobody logs in here: request a token at the token endpoint',
  },
  invalid_scope: {
    status: 400,
    error: 'invalid_scope',
    description: 'A requested scope is unknown, or is not granted to the application',
  },
  scopes_of_several_resources: {
    status: 400,
    error: 'invalid_scope',
    description: 'The scopes belong to several APIs; request those of one, or name the API with resource',
  },
  invalid_target: {
    status: 400,
    error: 'invalid_target',
    description: 'A requested resource is unknown, or is not granted to the application',
  },
  invalid_authorization_details: {
    status: 400,
    error: 'invalid_authorization_details',
    description: 'This service supports no authorization_details; request scopes instead',
  },
  unsupported_content_type: {
    status: 415,
    error: 'invalid_request',
    description: 'The body must be application/x-www-form-urlencoded',
  },
  unsupported_content_encoding: {
    status: 415,
    error: 'invalid_request',
    description: 'The body must not be compressed',
  },
  malformed_request: { status: 400, error: 'invalid_request', description: 'The request is malformed' },
  invalid_client: { status: 401, error: 'invalid_client', description: 'ClientId is Invalid' },
  missing_credentials: {
    status: 401,
    error: 'invalid_client',
    description: 'The request contains no client credentials',
  },
  expired_secret: { status: 401, error: 'invalid_client', description: 'The client secret has expired' },
  invalid_assertion: {
    status: 401,
    error: 'invalid_client',
    description: 'A claim of the client assertion is missing, invalid, expired or already used',
  },
  client_not_identified: {
    status: 401,
    error: 'invalid_client',
    description: 'The identity in the client assertion does not stand for exactly one application',
  },
  missing_dpop_proof: {
    status: 400,
    error: 'invalid_dpop_proof',
    description: 'The application needs a DPoP proof for each token request',
  },
  invalid_dpop_proof: {
    status: 400,
    error: 'invalid_dpop_proof',
    description:
      'The DPoP proof is malformed or not signed by its key, its client has a clock that is off (iat), or a claim is missing, invalid, expired or already used',
  },
  key_set_unavailable: {
    status: 503,
    error: 'temporarily_unavailable',
    description: "The client's JWK set could not be fetched",
    fault: 'messaging.adaptors.http.flow.ServiceUnavailable',
  },
  invalid_grant: {
    status: 400,
    error: 'invalid_grant',
    description:
      'The assertion or its issuer is not trusted, or a claim is missing, invalid, expired or already used',
  },
  identity_not_mapped: {
    status: 400,
    error: 'invalid_grant',
    description: 'The identity in the assertion does not stand for exactly one application',
  },
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
    description: 'Too many failed attempts; try again later',
    fault: 'policies.ratelimit.QuotaViolation',
  },
  not_found: {
    status: 404,
    error: 'invalid_request',
    description: 'No resource at this path',
    fault: 'messaging.adaptors.http.flow.ApplicationNotFound',
  },
  method_not_allowed: {
    status: 405,
    error: 'invalid_request',
    description: 'Method not allowed',
    fault: 'messaging.adaptors.http.flow.MethodNotAllowed',
  },
  body_too_large: {
    status: 413,
    error: 'invalid_request',
    description: 'The request body is too large',
    fault: 'protocol.http.TooBigBody',
  },
  headers_too_large: {
    status: 431,
    error: 'invalid_request',
    description: 'The request headers are too large',
    fault: 'protocol.http.TooBigHeaders',
  },
  request_too_slow: {
    status: 408,
    error: 'invalid_request',
    description: 'The request did not arrive in time',
    fault: 'messaging.adaptors.http.flow.RequestTimeOut',
  },
  overloaded: {
    status: 503,
    error: 'temporarily_unavailable',
    description: 'The service is overloaded',
    fault: 'messaging.adaptors.http.flow.ServiceUnavailable',
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
} as const satisfies Record<string, ErrorDescription>

export type ErrorReason = keyof typeof errorDescriptions

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
