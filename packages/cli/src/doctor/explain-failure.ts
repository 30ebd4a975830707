import type { TokenError } from '@tokenwell/core'
import type { Connection } from '../connection/resolve.ts'
import { asSentence } from '../errors.ts'
import { explainUnreachable } from './check-network.ts'
import { failureDetails, findingsOf, formatDuration, type Finding } from './finding.ts'
import type { ObservedRequest, SentAssertion } from './observe-token-request.ts'

const request = findingsOf('request')

interface FailureContext {
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
  if (status === 401 && !clientErrors.has(error.oauthError)) {
    // An API, which does not know the codes of a token endpoint.
    if (/^bearer\b/i.test(headers?.get('www-authenticate') ?? ''))
      return explainWrongUrl(url, 'status 401: it expects a Bearer token, as an API does', connection)
    if (error.kind === 'configuration')
      return explainWrongUrl(url, 'status 401 without an OAuth error', connection)
  }
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
    return explainWrongUrl(url, `status ${status}`, connection)
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

const clientErrors = new Set<string | undefined>(['invalid_client', 'unauthorized_client'])

function explainWrongUrl(url: URL, details: string, { authUrl }: Connection): Finding {
  return request.problem(
    'wrong_path',
    `There is no token endpoint at ${url.pathname} (${details}).`,
    authUrl === undefined
      ? 'Check the URL: TOKEN_ENDPOINT and --token-endpoint are the full URL. If the server has metadata, pass its issuer as ISSUER or --issuer instead.'
      : 'AUTH_URL or --auth-url is the part of the URL before /oauth/client_credential/accesstoken. For an endpoint at another path, pass its full URL as TOKEN_ENDPOINT or --token-endpoint, or its issuer as ISSUER or --issuer.',
  )
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

/** Explains a response without a token. */
function explainMissingToken(
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

/** Explains why the service rejected the credentials. The body is searched for known phrases. */
function explainRejectedCredentials(
  error: TokenError,
  body: string,
  { authUrl, clientId, clientSecret = '', origins }: Connection,
  usesBasic = false,
): Finding {
  const { oauthError, vendorCode } = error
  // The platform has one; others are called differently.
  const place = authUrl === undefined ? "the token service's settings" : 'the developer portal'
  const details = failureDetails(error)
  const mentions = (phrase: RegExp): boolean => phrase.test(`${vendorCode} ${body}`)
  if (mentions(/secret[^.]{0,100}expired|expired[\w ]*secret|credentials?[\w ]*expired|KeyExpired/i)) {
    return request.problem(
      'secret_expired',
      `The client secret has expired (${details}).`,
      `Create a new secret in ${place}, and replace the old one everywhere.`,
    )
  }
  // The sentence of RFC 6749, which many servers send, names an unknown client as one of several causes.
  const severalCauses = /\b(?:e\.g|or)\b[^"]*unknown client|unknown client[^"]*\bor\b/i
  // Entra ID calls a client ID that it does not know unauthorized_client.
  if (
    mentions(/application[^.]{0,100}was not found/i) ||
    (mentions(/unknown client/i) && !mentions(severalCauses))
  ) {
    return request.problem(
      'unknown_client',
      `The service does not know the client ID (${details}).`,
      `Check ${origins['clientId']}, and the tenant or realm in the URL of the token endpoint.`,
    )
  }
  if (oauthError === 'unauthorized_client' || mentions(/not[ _]?approved|not[ _]?active|revoked/i)) {
    return request.problem(
      'application_not_approved',
      `The credentials are valid, but the application is not allowed to get tokens (${details}).`,
      authUrl === undefined
        ? 'Allow the application this grant, and the scopes and audience that it requests, in the settings of the token service.'
        : 'In the developer portal, request approval of the application for this grant and the products that it needs.',
    )
  }
  if (usesBasic && /[^\w.*-]/.test(clientId + clientSecret)) {
    return request.problem(
      'basic_encoding',
      `The service rejected Basic credentials that contain special characters (${details}).`,
      'They are form-encoded (RFC 6749, section 2.3.1), which not every server decodes. Omit --basic to send the credentials in the body, or create a secret of letters and digits.',
    )
  }
  return request.problem(
    'invalid_credentials',
    `The service rejected the client ID or the client secret (${details}).`,
    `Check ${origins['clientId']} and ${origins['clientSecret']}. Copy both again from ${place}, for the same application and environment, without leading or trailing spaces. ` +
      'An endpoint that expects them in a header needs --basic.',
  )
}

/** What servers tolerate at most; `Date` has whole seconds only. */
const toleranceSeconds = 5

/** Explains why the service rejected a client assertion. The body is searched for known phrases, and never quoted. */
function explainRejectedAssertion(
  error: TokenError,
  body: string,
  date: string | null | undefined,
  { audience, keyId, subject, issuedAt, expiresAt }: SentAssertion,
  { way, clientId }: Connection,
): Finding {
  const details = failureDetails(error)
  const assertionFile = way.way === 'assertionFile' ? way.value : undefined
  const here = Date.now() / 1000
  const there = Date.parse(date ?? '') / 1000
  const mentions = (phrase: RegExp): boolean => phrase.test(`${error.vendorCode} ${body}`)
  if (expiresAt !== undefined && expiresAt < here && assertionFile !== undefined) {
    return request.problem(
      'assertion_expired',
      `The assertion in ${assertionFile} expired ${formatDuration((here - expiresAt) * 1000)} ago (${details}).`,
      'Check the process that writes the file: it must replace the assertion before it expires.',
    )
  }
  const isEarly = issuedAt !== undefined && issuedAt > there + toleranceSeconds
  const isLate = expiresAt !== undefined && expiresAt < there
  if (isEarly || isLate) {
    const skew = formatDuration(Math.abs(here - there) * 1000)
    return request.problem(
      'assertion_clock_skew',
      `The assertion ${isEarly ? 'is not valid yet' : 'has expired'} by the service's clock, which is ${skew} ${isEarly ? 'behind' : 'ahead of'} this machine's (${details}).`,
      "Synchronise this machine's clock (NTP).",
    )
  }
  if (mentions(/\baud(?:ience)?s?\b/i)) {
    return request.problem(
      'assertion_audience',
      `The service rejected the audience "${audience}" of the assertion (${details}).`,
      assertionFile === undefined
        ? 'Some services expect their issuer, others the URL of the token endpoint: pass --assertion-audience.'
        : 'Configure the platform that writes the file to use the audience that the service expects.',
    )
  }
  if (mentions(/\bkid\b|\bjwks\b|\bkeys?\b|signature/i)) {
    return request.problem(
      'assertion_key',
      `The service found no key that verifies the assertion, which has ${keyId === undefined ? 'no key ID' : `the key ID "${keyId}"`} (${details}).`,
      way.way === 'privateKey'
        ? `Register the public key for "${clientId}" with the service, and pass the key ID that it has there as --key-id.`
        : 'Configure the service to trust the issuer of the assertion.',
    )
  }
  return request.problem(
    'assertion_rejected',
    `The service rejected the assertion (${details}): audience "${audience}", ${keyId === undefined ? 'no key ID' : `key ID "${keyId}"`}, subject "${subject}".`,
    'Compare all three, and the public key, with what is registered with the service. Some services expect their issuer as the audience, others the URL of the token endpoint: pass --assertion-audience.',
  )
}
