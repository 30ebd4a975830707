import { describe, expect, it } from 'vitest'
import { errorBody } from '../../src/oauth/error-body.ts'
import { ProtocolError, type ErrorReason } from '../../src/oauth/protocol-error.ts'

// Programs decide by these codes.
const invalidRequest = [400, 'invalid_request'] as const
const codes: Record<ErrorReason, readonly [status: number, error: string, fault?: string]> = {
  missing_parameter: invalidRequest,
  repeated_parameter: invalidRequest,
  malformed_parameter: invalidRequest,
  credentials_in_query: invalidRequest,
  two_authentication_methods: invalidRequest,
  malformed_authorization: invalidRequest,
  grant_type_not_in_query: invalidRequest,
  unsupported_content_encoding: [415, 'invalid_request'],
  malformed_request: invalidRequest,
  invalid_target: [400, 'invalid_target'],
  invalid_authorization_details: [400, 'invalid_authorization_details'],
  invalid_scope: [400, 'invalid_scope'],
  scopes_of_several_resources: [400, 'invalid_scope'],
  missing_dpop_proof: [400, 'invalid_dpop_proof'],
  invalid_dpop_proof: [400, 'invalid_dpop_proof'],
  unsupported_grant_type: [400, 'unsupported_grant_type'],
  unsupported_response_type: [400, 'unsupported_response_type'],
  token_of_another_client: [400, 'invalid_grant'],
  invalid_grant: [400, 'invalid_grant'],
  identity_not_mapped: [400, 'invalid_grant'],
  application_not_approved: [400, 'unauthorized_client'],
  unsupported_content_type: [415, 'invalid_request'],
  invalid_client: [401, 'invalid_client'],
  missing_credentials: [401, 'invalid_client'],
  client_not_identified: [401, 'invalid_client'],
  expired_secret: [401, 'invalid_client'],
  invalid_assertion: [401, 'invalid_client'],
  key_set_unavailable: [503, 'temporarily_unavailable', 'messaging.adaptors.http.flow.ServiceUnavailable'],
  too_many_failures: [429, 'slow_down', 'policies.ratelimit.QuotaViolation'],
  not_found: [404, 'invalid_request', 'messaging.adaptors.http.flow.ApplicationNotFound'],
  method_not_allowed: [405, 'invalid_request', 'messaging.adaptors.http.flow.MethodNotAllowed'],
  body_too_large: [413, 'invalid_request', 'protocol.http.TooBigBody'],
  headers_too_large: [431, 'invalid_request', 'protocol.http.TooBigHeaders'],
  request_too_slow: [408, 'invalid_request', 'messaging.adaptors.http.flow.RequestTimeOut'],
  overloaded: [503, 'temporarily_unavailable', 'messaging.adaptors.http.flow.ServiceUnavailable'],
  unavailable: [503, 'temporarily_unavailable', 'messaging.adaptors.http.flow.ServiceUnavailable'],
  internal: [500, 'server_error', 'messaging.runtime.ScriptExecutionFailed'],
}
const entries = Object.entries(codes) as [ErrorReason, (typeof codes)[ErrorReason]][]
const aSentence = expect.stringMatching(/^\w+ \w+/)

describe('the response to an error', () => {
  it.each(entries)('%s has its status, code and a description', (reason, [status, error, fault]) => {
    const thrown = new ProtocolError(reason)
    expect(errorBody(thrown, 'standard')).toEqual({ status, body: { error, error_description: aSentence } })
    expect(errorBody(thrown, 'platform')).toEqual({
      status: reason === 'application_not_approved' ? 401 : status,
      body:
        fault === undefined
          ? { ErrorCode: error, Error: aSentence }
          : { fault: { faultstring: aSentence, detail: { errorcode: fault } } },
    })
  })

  it('ends with the parameter that it is about', () => {
    const error = new ProtocolError('missing_parameter', { parameter: 'client_id' })
    const description = 'The request is missing a required parameter : client_id'
    expect(errorBody(error, 'standard').body).toMatchObject({ error_description: description })
    expect(errorBody(error, 'platform').body).toMatchObject({ Error: description })
  })
})
