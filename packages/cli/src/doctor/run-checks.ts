import { buildTokenRequest, parseTokenResponse, TokenError } from '@tokenwell/core'
import type { Connection } from '../connection/resolve-connection.ts'
import { redactFinding } from './redact-finding.ts'
import { observeTokenRequest, type ObservedRequest } from './observe-token-request.ts'
import { findingsOf, type Finding } from './finding.ts'
import { checkResponse } from './check-response.ts'
import { checkCertificate } from './check-certificate.ts'
import { checkClock } from './check-clock.ts'
import { explainFailure } from './explain-failure.ts'
import { checkLifetime } from './check-lifetime.ts'
import { checkNetwork } from './check-network.ts'
import { checkProxy } from './check-proxy.ts'
import { probe } from './probe.ts'
import { notTried, tryWrongSecret } from './try-wrong-secret.ts'

export interface CheckOptions {
  /** Longest duration of each part. */
  readonly limitMs: number
  readonly tryWrongSecret?: boolean | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** Duration of each part, in milliseconds. */
export interface Timings {
  readonly lookup?: number | undefined
  readonly connection?: number | undefined
  readonly tls?: number | undefined
  readonly response?: number | undefined
}

export type CheckResult = Finding | { readonly timings: Timings }

const address = findingsOf('address')

/** Runs one check after the other, and stops where the next one would be pointless or unsafe. */
export async function* runChecks(connection: Connection, options: CheckOptions): AsyncGenerator<CheckResult> {
  const secrets = [connection.clientSecret]
  for await (const found of checkInOrder(connection, options, secrets)) {
    yield 'timings' in found ? found : redactFinding(found, secrets)
  }
}

/** @throws {TokenError} of kind `configuration` for invalid options, except plain HTTP */
export function tokenEndpointOf(connection: Connection): URL {
  return buildTokenRequest({ ...connection, allowInsecure: true }).url
}

async function* checkInOrder(
  connection: Connection,
  options: CheckOptions,
  secrets: string[],
): AsyncGenerator<CheckResult> {
  const { limitMs, env = {} } = options
  const url = tokenEndpointOf(connection)
  const plainHttp = checkPlainHttp(connection, url)
  if (plainHttp) yield plainHttp
  if (plainHttp?.level === 'problem') return

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

  const observed = await observeTokenRequest(connection, limitMs)
  const { outcome } = observed
  if (observed.waitedMs !== undefined) {
    const { lookupMs: lookup, connectMs, tlsMs: tls } = probed ?? {}
    yield { timings: { lookup, connection: connectMs, tls, response: observed.waitedMs } }
  }
  if (outcome instanceof TokenError) {
    yield explainFailure(observed, outcome, url)
    return
  }
  secrets.push(outcome.value)
  const raw = rawResponse(observed)
  yield* checkResponse(observed, raw, outcome, connection)
  yield* checkLifetime(observed, raw, outcome, connection.expiresInUnit)
  yield* checkClock(observed, raw, outcome.response)
  yield options.tryWrongSecret ? await tryWrongSecret(connection, limitMs) : notTried
}

function checkPlainHttp(connection: Connection, url: URL): Finding | undefined {
  if (url.protocol !== 'http:') return undefined
  if (isLoopback(connection)) {
    return address.note('plain_http_loopback', 'Plain HTTP, on this machine only.')
  }
  const message = `Plain HTTP to ${url.host}: others on the network can read the secret and the token.`
  const advice = 'Use https:// in the URL. --allow-insecure is meant for private networks.'
  return connection.allowInsecure
    ? address.warning('plain_http', message, advice)
    : address.problem('plain_http', `${message} No request was sent.`, advice)
}

function isLoopback(connection: Connection): boolean {
  try {
    buildTokenRequest({ ...connection, allowInsecure: false })
    return true
  } catch {
    return false
  }
}

function rawResponse({
  status = 0,
  headers = new Headers(),
  body,
}: ObservedRequest): Readonly<Record<string, unknown>> {
  return parseTokenResponse(status, headers, body).raw
}
