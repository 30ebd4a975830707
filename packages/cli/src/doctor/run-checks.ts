import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { TokenError } from '@tokenwell/core'
import { buildTokenRequest, parseTokenResponse } from '@tokenwell/core/protocol'
import type { Connection } from '../connection/resolve.ts'
import { misspellings } from '../connection/variables.ts'
import { asSentence } from '../errors.ts'
import { checkApi } from './check-api.ts'
import { checkPlatformToken, checkWay } from './check-authentication.ts'
import { checkCertificate, checkNetwork, checkProxy, isSecure, probe } from './check-network.ts'
import { checkClock, checkLifetime, checkResponse } from './check-response.ts'
import { explainFailure } from './explain-failure.ts'
import {
  failureDetails,
  findingsOf,
  formatDuration,
  redactFinding,
  type Finding,
  type Timings,
} from './finding.ts'
import { observeTokenRequest, type ObservedRequest } from './observe-token-request.ts'

export interface CheckOptions {
  /** Longest duration of each part. */
  readonly limitMs: number
  readonly tryWrongSecret?: boolean | undefined
  /** An API that is called with the token. */
  readonly apiUrl?: URL | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

export type CheckResult = Finding | { readonly timings: Timings }

const request = findingsOf('request')

/** Runs one check after the other, and stops where the next one would be pointless or unsafe. */
export async function* runChecks(connection: Connection, options: CheckOptions): AsyncGenerator<CheckResult> {
  const secrets = connection.clientSecret === undefined ? [] : [connection.clientSecret]
  for await (const found of checkInOrder(connection, options, secrets)) {
    yield 'timings' in found ? found : redactFinding(found, secrets)
  }
}

/** The token endpoint, or the issuer whose metadata names it. */
export function addressOf({ issuer, authUrl, tokenEndpoint, clientId }: Connection): URL {
  if (issuer !== undefined) return new URL(issuer)
  const options = { authUrl, tokenEndpoint, clientId, allowInsecureRequests: true }
  return buildTokenRequest({ ...options, clientAuthentication: 'none' }).url
}

async function* checkInOrder(
  connection: Connection,
  options: CheckOptions,
  secrets: string[],
): AsyncGenerator<CheckResult> {
  const { limitMs, apiUrl, env = {} } = options
  yield* checkEnvironment(env)
  yield* checkWay(connection)
  const url = addressOf(connection)
  const addressFindings = checkAddress(connection, url)
  yield* addressFindings
  if (addressFindings.some(({ level }) => level === 'problem')) return

  const proxy = checkProxy(url, env)
  if (proxy.finding) yield proxy.finding
  const probed = proxy.used ? undefined : await probe(url, limitMs)
  if (probed) {
    const network = checkNetwork(probed, url)
    yield network
    const certificate = checkCertificate(probed, url)
    if (certificate) yield certificate
    if (network.level === 'problem' || certificate?.level === 'problem') return
  }

  for await (const found of checkPlatformToken(connection, url, limitMs)) {
    yield found
    if (found.level === 'problem') return
  }

  let observed = await observeTokenRequest(connection, limitMs)
  const retryAfterMs = observed.outcome instanceof TokenError ? observed.outcome.retryAfterMs : undefined
  if (retryAfterMs !== undefined && retryAfterMs <= limitMs) {
    yield request.note(
      'retry_after',
      `The service asks clients to wait ${formatDuration(retryAfterMs)} (status ${observed.status}). Retrying after that.`,
    )
    await setTimeout(retryAfterMs)
    observed = await observeTokenRequest(connection, limitMs)
  }
  const { outcome, assertion, endpoint = url } = observed
  if (connection.issuer !== undefined) {
    yield checkMetadata(observed)
    if (!observed.endpoint) return
  }
  if (assertion) secrets.push(assertion.text)
  if (observed.waitedMs !== undefined) {
    const { lookupMs: lookup, connectMs, tlsMs: tls } = probed ?? {}
    yield { timings: { lookup, connection: connectMs, tls, response: observed.waitedMs } }
  }
  if (outcome instanceof TokenError) {
    yield explainFailure(observed, outcome, endpoint, { connection, proxy: proxy.used })
    return
  }
  secrets.push(outcome.value)
  const raw = rawResponse(observed)
  yield* checkResponse(observed, raw, outcome, connection)
  yield* checkLifetime(observed, raw, outcome, connection.expiresInUnit)
  yield* checkClock(observed, raw, outcome.response)
  if (apiUrl)
    yield await checkApi(apiUrl, outcome, {
      allowInsecureRequests: connection.allowInsecureRequests,
      limitMs,
    })
  if (connection.clientSecret === undefined) return
  yield options.tryWrongSecret ? await tryWrongSecret(connection, limitMs) : notTried
}

const environment = findingsOf('environment')

/** Variables that look like those of the command, but are not read. */
function checkEnvironment(env: NodeJS.ProcessEnv): Finding[] {
  return misspellings(env).map(({ given, meant }) =>
    environment.warning(
      'variable_not_read',
      `${given} is set, but not read.`,
      `If it is meant for tokenwell, name it ${meant}.`,
    ),
  )
}

function rawResponse({
  status = 0,
  headers = new Headers(),
  body,
}: ObservedRequest): Readonly<Record<string, unknown>> {
  return parseTokenResponse(status, headers, body).raw
}

const wrongSecret = findingsOf('wrong secret')

const notTried = wrongSecret.note(
  'not_tried',
  "A wrong secret was not tried, because such a request may count against the service's rate limit.",
  'Add --try-wrong-secret if that is acceptable.',
)

/** Sends one token request with a random secret. */
async function tryWrongSecret(connection: Connection, limitMs: number): Promise<Finding> {
  const { outcome } = await observeTokenRequest({ ...connection, clientSecret: randomUUID() }, limitMs)
  if (!(outcome instanceof TokenError)) {
    return wrongSecret.problem(
      'any_secret_accepted',
      'The service also returned a token for a wrong secret.',
      'The service does not check secrets. Report this to its operators at once.',
    )
  }
  const { kind } = outcome
  const details = failureDetails(outcome)
  switch (kind) {
    case 'credentials':
      return wrongSecret.ok(
        'recognised',
        `The service rejects a wrong secret (${details}), and Tokenwell recognises the rejection: it does not retry.`,
      )
    case 'throttled':
      return wrongSecret.warning(
        'throttled',
        `The wrong secret was not checked, because the service rate-limited the request (${details}).`,
        'Try again later.',
      )
    default:
      return wrongSecret.warning(
        'not_recognised',
        `The response to a wrong secret does not look like a rejection (${details}, treated as ${kind}).`,
        'Programs may mistake a wrong secret for an outage or a wrong URL. The service should respond with status 401 and invalid_client (RFC 6749, section 5.2).',
      )
  }
}

const address = findingsOf('address')
const platformPath = '/oauth/client_credential/accesstoken'

/** What the issuer's metadata said: the library sends no token request if it cannot use them. */
function checkMetadata({ endpoint, outcome }: ObservedRequest): Finding {
  if (endpoint) return address.ok('metadata_found', `The token endpoint is ${endpoint.href}.`)
  return address.problem(
    'metadata_not_found',
    asSentence(outcome instanceof TokenError ? outcome.message : ''),
    'Write the issuer exactly as its metadata does, or pass --token-endpoint for a server without metadata.',
  )
}

/** Checks the URL of the token endpoint before anything is sent. */
function checkAddress(connection: Connection, url: URL): Finding[] {
  const plainHttp = checkPlainHttp(connection, url)
  return [...checkPath(connection, url), ...(plainHttp ? [plainHttp] : [])]
}

/** The platform expects grant_type in the query, which `--token-endpoint` does not send. */
function checkPath({ authUrl, issuer, origins }: Connection, { origin, pathname }: URL): Finding[] {
  const [base, repeated] = pathname.split(platformPath)
  if (repeated === undefined || issuer !== undefined) return []
  if (authUrl === undefined) {
    return [
      address.warning(
        'platform_path',
        `${origins['tokenEndpoint']} contains the platform's path, ${platformPath}.`,
        `Pass --auth-url ${origin}${base} instead: the platform expects grant_type in the query.`,
      ),
    ]
  }
  if (pathname.indexOf(platformPath) === pathname.lastIndexOf(platformPath)) return []
  return [
    address.warning(
      'platform_path_repeated',
      `${origins['authUrl']} already contains the path ${platformPath}.`,
      `Set it to ${origin}${base}, because the path is appended.`,
    ),
  ]
}

function checkPlainHttp({ allowInsecureRequests }: Connection, url: URL): Finding | undefined {
  if (url.protocol !== 'http:') return undefined
  if (isSecure(url)) return address.note('plain_http_loopback', 'Plain HTTP, on this machine only.')
  const message = `Plain HTTP to ${url.host}: others on the network can read the secret and the token.`
  const advice = 'Use https:// in the URL.'
  return allowInsecureRequests
    ? address.warning('plain_http', message, advice)
    : address.problem(
        'plain_http',
        `${message} No request was sent.`,
        `${advice} Inside a trusted network, pass --allow-insecure.`,
      )
}
