import type { TokenError } from '@tokenwell/core'
import { asSentence } from '../explain-error.ts'
import type { Connection } from '../configuration/resolve-connection.ts'
import type { ObservedRequest } from './observe-token-request.ts'
import { failureDetails, findingsOf, type Finding } from './finding.ts'

const request = findingsOf('request')

/** Explains a response without a token. */
export function explainMissingToken(
  { headers, body, receivedBytes }: ObservedRequest,
  error: TokenError,
  status: number,
  { authUrl, scope }: Connection,
): Finding {
  const type = headers?.get('content-type') ?? ''
  if (/html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(body)) {
    return request.problem(
      'html_instead_of_json',
      `The endpoint returned a web page instead of a token (status ${status}).`,
      'It may be a login page, a captive portal or an error page of a proxy: check the URL, and whether a proxy requires a login.',
    )
  }
  if (error.oauthError === 'invalid_scope' || error.oauthError === 'invalid_target') {
    return request.problem(
      'scope_rejected',
      `The service rejected the requested scope, audience or resource (${failureDetails(error)}).`,
      'Check --scope, --audience and --resource against what the application is allowed to request.',
    )
  }
  if (error.oauthError === 'unsupported_grant_type' || error.kind === 'configuration') {
    return request.problem(
      'request_rejected',
      `The service rejected the request (${failureDetails(error)}).`,
      authUrl === undefined
        ? `Some endpoints require ${scope === undefined ? '--scope, ' : ''}--audience, --resource, --basic or a --parameter.`
        : "For an endpoint other than the platform's, pass --issuer or --token-endpoint, which sends grant_type in the body.",
    )
  }
  if (receivedBytes > 2 ** 20) {
    return request.problem(
      'response_too_large',
      'The response is larger than 1 MiB.',
      'This is not a token endpoint: check the URL.',
    )
  }
  if (body.trim() === '') {
    return request.problem(
      'response_empty',
      `The response is empty (status ${status}).`,
      'Check the URL. A proxy may have dropped the body.',
    )
  }
  if (!isJsonObject(body)) {
    return request.problem(
      'broken_json',
      `The response is not a complete JSON object (status ${status}, ${body.length} characters).`,
      'A proxy may have truncated or changed it. Report this to the operators of the service.',
    )
  }
  return request.problem(
    'invalid_token_response',
    asSentence(error.message),
    'The service should return access_token, and token_type "Bearer" (RFC 6749, section 5.1).',
  )
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
