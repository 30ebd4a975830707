import type { TokenError } from '@tokenwell/core'
import type { Connection } from '../configuration/resolve-connection.ts'
import { formatDuration } from './durations.ts'
import type { ObservedRequest } from './observe-token-request.ts'
import { failureDetails, findingsOf, type Finding } from './finding.ts'
import { explainMissingToken } from './explain-missing-token.ts'
import { explainRejectedAssertion, explainRejectedCredentials } from './explain-rejected-credentials.ts'
import { explainUnreachable } from './probe.ts'

const request = findingsOf('request')

export interface FailureContext {
  readonly connection: Connection
  /** The variable with the proxy that is used. */
  readonly proxy: string | undefined
}

/** Explains why a token request failed. */
export function explainFailure(
  observed: ObservedRequest,
  error: TokenError,
  url: URL,
  { connection, proxy }: FailureContext,
): Finding {
  const { assertion, usesBasic, status, headers, complete, timedOut, durationMs, body, receivedBytes } =
    observed
  if (status === undefined) return explainSilence(observed, url, proxy)
  if (timedOut) {
    return request.problem(
      'response_incomplete',
      `A response began (status ${status}), but did not complete within ${formatDuration(durationMs)}.`,
      'The service or a proxy is hanging. Report this to its operators, or allow more time with --timeout.',
    )
  }
  if (status >= 300 && status < 400) return explainRedirect(status, headers?.get('location'), url)
  if (error.kind === 'throttled') return explainThrottling(error)
  if (error.kind === 'credentials') {
    return assertion
      ? explainRejectedAssertion(error, body, headers?.get('date'), assertion.assertion, connection)
      : explainRejectedCredentials(error, body, connection, usesBasic)
  }
  if (!complete && receivedBytes <= 2 ** 20) {
    return request.problem(
      'response_truncated',
      `The connection was closed in the middle of the response (status ${status}, ${body.length} characters received).`,
      'A proxy or the service closed the connection too early. Report this to its operators. Providers retry automatically.',
    )
  }
  if (status === 404 || status === 405 || status === 410) {
    return request.problem(
      'wrong_path',
      `There is no token endpoint at ${url.pathname} (status ${status}).`,
      'AUTH_URL or --auth-url is the part of the URL before /oauth/client_credential/accesstoken. For an endpoint at another path, pass its full URL as TOKEN_ENDPOINT or --token-endpoint, or its issuer as ISSUER or --issuer.',
    )
  }
  if (status >= 500) {
    return request.problem(
      'server_error',
      `The token service failed (${failureDetails(error)}).`,
      'Report this to its operators. Providers retry automatically, with backoff.',
    )
  }
  return explainMissingToken(observed, error, status, connection)
}

function explainSilence(
  { timedOut, durationMs, networkCode = 'unknown error', proxyStatus }: ObservedRequest,
  url: URL,
  proxy: string | undefined,
): Finding {
  if (proxyStatus !== undefined) return explainProxyStatus(proxyStatus, url)
  if (timedOut) {
    return request.problem(
      'no_response',
      `The service accepted the connection, but did not respond within ${formatDuration(durationMs)}.`,
      'It is overloaded or hanging. Report this to its operators, or allow more time with --timeout.',
    )
  }
  if (/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(networkCode)) {
    return request.problem(
      'connection_dropped',
      `The service accepted the connection and closed it without a response (${networkCode}).`,
      url.protocol === 'http:'
        ? 'The port may expect https://. Otherwise a proxy, a firewall or the service closed the connection: report this to its operators.'
        : 'A proxy, a firewall or the service closed the connection. Report this to its operators. Providers retry automatically.',
    )
  }
  if (/^HPE_|HTTPParser|UND_ERR_HEADERS_OVERFLOW/.test(networkCode)) {
    return request.problem(
      'not_http',
      `The server at ${url.host} does not speak valid HTTP (${networkCode}).`,
      'Check the host and the port.',
    )
  }
  if (proxy !== undefined) {
    return request.problem(
      'proxy_unreachable',
      `The proxy set in ${proxy} cannot be reached (${networkCode}).`,
      'Check its URL, and whether it is running.',
    )
  }
  return explainUnreachable({ stage: 'connection', code: networkCode }, url)
}

function explainProxyStatus(status: number, url: URL): Finding {
  const advice: Readonly<Record<number, string>> = {
    403: `Ask its operators to allow connections to ${url.host}, or list the host in NO_PROXY.`,
    407: 'Put its user name and password into the URL of the proxy: http://user:password@proxy.example.com:8080.',
    502: `It cannot reach ${url.host}: check the spelling, and whether the host is reachable from the proxy.`,
  }
  return request.problem(
    'proxy_rejected_connection',
    `The proxy did not open a connection to ${url.host} (it responded to CONNECT with status ${status}).`,
    advice[status] ?? 'Report this to its operators.',
  )
}

function explainRedirect(status: number, location: string | null | undefined, url: URL): Finding {
  const target = location && URL.canParse(location, url) ? new URL(location, url) : undefined
  const where = target ? ` to ${target.origin}${target.pathname}` : ''
  return request.problem(
    'redirected',
    `The service redirected the request${where} (status ${status}). The redirect was not followed.`,
    target?.protocol === 'https:' && url.protocol === 'http:'
      ? 'Use https:// in the URL.'
      : 'If the token endpoint has moved, pass its new URL. If the redirect leads to a login page, this is not the token endpoint.',
  )
}

function explainThrottling({ status, retryAfterMs }: TokenError): Finding {
  const wait =
    retryAfterMs === undefined
      ? 'without a Retry-After header'
      : `Retry-After: ${formatDuration(retryAfterMs)}`
  return request.problem(
    'throttled',
    `The service rate-limited the request (status ${status}, ${wait}).`,
    'Look for programs that request a token for each call: share one provider, or one store, between all calls.',
  )
}
