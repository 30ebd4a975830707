import type { TokenError } from '@tokenwell/core'
import type { Exchange } from './exchange.ts'
import { failureFacts } from './failure-facts.ts'
import { findingsOf, type Finding } from './finding.ts'

const request = findingsOf('request')

/** What came instead of a token. */
export function explainNoToken({ headers, body }: Exchange, error: TokenError, status: number): Finding {
  const type = headers?.get('content-type') ?? ''
  if (/html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(body)) {
    return request.problem(
      'html_instead_of_json',
      `A web page came instead of a token (status ${status}).`,
      'That is a login page, a portal or a proxy’s notice: check the address, and whether a proxy wants you to log in.',
    )
  }
  if (error.oauthError === 'invalid_scope' || error.oauthError === 'invalid_target') {
    return request.problem(
      'scope_refused',
      `The service does not give what is asked for (${failureFacts(error)}).`,
      'Check --scope, --audience and --resource against what the application may have.',
    )
  }
  if (error.oauthError === 'unsupported_grant_type' || error.kind === 'configuration') {
    return request.problem(
      'request_refused',
      `The service refuses the request as such (${failureFacts(error)}).`,
      'An endpoint other than the platform’s wants --token-url, which sends grant_type in the body; some want --basic, or a --parameter.',
    )
  }
  if (/1 MiB/.test(error.message)) {
    return request.problem(
      'answer_too_large',
      'More than 1 MiB came instead of a token.',
      'That is no token endpoint: check the address.',
    )
  }
  if (body.trim() === '') {
    return request.problem(
      'answer_empty',
      `The answer is empty (status ${status}).`,
      'Check the address; a proxy may have swallowed the answer.',
    )
  }
  if (!isJsonObject(body)) {
    return request.problem(
      'broken_json',
      `The answer is no whole JSON object (status ${status}, ${body.length} characters).`,
      'A proxy may cut it short or change it; the operators of the service have to look.',
    )
  }
  return request.problem(
    'no_usable_token',
    `${error.message}.`,
    'Check the address; tokens of another type than Bearer are not for this library.',
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
