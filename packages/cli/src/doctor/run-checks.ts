import { setTimeout } from 'node:timers/promises'
import { TokenError } from '@tokenwell/core'
import { parseTokenResponse } from '@tokenwell/core/protocol'
import { describeRequest, type Connection } from '../configuration/resolve-connection.ts'
import { redactFinding, findingsOf, type Finding } from './finding.ts'
import { observeTokenRequest, type ObservedRequest } from './observe-token-request.ts'
import { checkAddress } from './check-address.ts'
import { checkApi } from './check-api.ts'
import { formatDuration, type Timings } from './durations.ts'
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

/** @throws {TokenError} of kind `configuration` for invalid options, except plain HTTP */
export function tokenEndpointOf(connection: Connection): URL {
  return describeRequest({ ...connection, allowInsecureRequests: true }).url
}

async function* checkInOrder(
  connection: Connection,
  options: CheckOptions,
  secrets: string[],
): AsyncGenerator<CheckResult> {
  const { limitMs, apiUrl, env = {} } = options
  const url = tokenEndpointOf(connection)
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
  const { outcome, assertion } = observed
  if (assertion) secrets.push(assertion.text)
  if (observed.waitedMs !== undefined) {
    const { lookupMs: lookup, connectMs, tlsMs: tls } = probed ?? {}
    yield { timings: { lookup, connection: connectMs, tls, response: observed.waitedMs } }
  }
  if (outcome instanceof TokenError) {
    yield explainFailure(observed, outcome, url, { connection, proxy: proxy.used })
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

function rawResponse({
  status = 0,
  headers = new Headers(),
  body,
}: ObservedRequest): Readonly<Record<string, unknown>> {
  return parseTokenResponse(status, headers, body).raw
}
