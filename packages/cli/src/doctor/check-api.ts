import type { AccessToken } from '@tokenwell/core'
import { classifyApiResponse, errorCode } from '@tokenwell/core/protocol'
import { explainUnreachable, isSecure } from './check-network.ts'
import { findingsOf, formatDuration, type Finding } from './finding.ts'

const api = findingsOf('api')

/** Sends one GET request with the token to an API, and reports whether the API accepts it. */
export async function checkApi(
  url: URL,
  token: AccessToken,
  { allowInsecureRequests, limitMs }: { allowInsecureRequests?: boolean | undefined; limitMs: number },
): Promise<Finding> {
  const place = url.host + url.pathname
  if (!isSecure(url, allowInsecureRequests)) {
    return api.problem(
      'plain_http',
      `Plain HTTP to ${url.host}: others on the network can read the token. No request was sent.`,
      'Use https:// in --api-url. Inside a trusted network, pass --allow-insecure.',
    )
  }
  const start = performance.now()
  const headers = { authorization: `Bearer ${token.value}` }
  const response = await fetch(url, {
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(limitMs),
  }).catch((error: unknown) => errorCode(error))
  if (response === 'TimeoutError') {
    return api.problem(
      'api_no_response',
      `${place} did not respond within ${formatDuration(limitMs)}.`,
      'It is slow or hanging, or a firewall drops the connection. Allow more time with --timeout.',
    )
  }
  if (typeof response === 'string') {
    return { ...explainUnreachable({ stage: 'connection', code: response }, url), check: 'api' }
  }
  await response.body?.cancel()
  return explainStatus(response, place, performance.now() - start)
}

function explainStatus({ status, headers }: Response, place: string, durationMs: number): Finding {
  const retryAfter = headers.get('retry-after')
  if (classifyApiResponse(status, headers).tokenRejected || status === 401) {
    return api.problem(
      'token_rejected',
      `${place} rejected the token (status ${status}).`,
      'The token may be for another environment or audience: check the token endpoint, --audience and --scope.',
    )
  }
  if (status === 403) {
    return api.problem(
      'not_allowed',
      `${place} accepted the token, but does not allow the request (status 403).`,
      "Check the application's products and scopes.",
    )
  }
  if (status === 429 || status >= 500) {
    return api.problem(
      status === 429 ? 'api_throttled' : 'api_failed',
      `${place} responded with status ${status}${retryAfter ? ` (Retry-After: ${retryAfter})` : ''}.`,
      status === 429 ? 'Send fewer requests.' : 'Report this to the operators of the API.',
    )
  }
  if (status >= 300) {
    return api.warning(
      'api_path',
      `${place} responded with status ${status}, which does not show whether it accepts the token.`,
      'Pass the URL of a resource that supports GET as --api-url.',
    )
  }
  return api.ok('accepted', `${place} accepted the token (status ${status}, ${formatDuration(durationMs)}).`)
}
