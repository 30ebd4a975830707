import { buildTokenRequest, parseTokenResponse, TokenError } from '@tokenwell/core'
import type { Connection } from '../connection/resolve-connection.ts'
import { conceal } from './conceal.ts'
import { exchange, type Exchange } from './exchange.ts'
import { findingsOf, type Finding } from './finding.ts'
import { judgeAnswer } from './judge-answer.ts'
import { judgeCertificate } from './judge-certificate.ts'
import { judgeClock } from './judge-clock.ts'
import { judgeFailure } from './judge-failure.ts'
import { judgeLifetime } from './judge-lifetime.ts'
import { judgeNetwork } from './judge-network.ts'
import { judgeProxy } from './judge-proxy.ts'
import { probe } from './probe.ts'
import { notTried, tryWrongSecret } from './try-wrong-secret.ts'

export interface ExamineOptions {
  /** The longest that each part may take. */
  readonly limitMs: number
  readonly tryWrongSecret?: boolean | undefined
  readonly env?: NodeJS.ProcessEnv | undefined
}

/** How long each part took, in milliseconds. */
export interface Timings {
  readonly lookup?: number | undefined
  readonly connection?: number | undefined
  readonly tls?: number | undefined
  readonly answer?: number | undefined
}

export type Examination = Finding | { readonly timings: Timings }

const address = findingsOf('address')

/** Looks at one thing after the other, and stops where going on makes no sense or would not be safe. */
export async function* examine(connection: Connection, options: ExamineOptions): AsyncGenerator<Examination> {
  const secrets = [connection.clientSecret]
  for await (const found of lookAround(connection, options, secrets)) {
    yield 'timings' in found ? found : conceal(found, secrets)
  }
}

/** @throws {TokenError} of kind `configuration` for anything that is wrong with the options, but for plain HTTP */
export function addressOf(connection: Connection): URL {
  return buildTokenRequest({ ...connection, allowInsecure: true }).url
}

async function* lookAround(
  connection: Connection,
  options: ExamineOptions,
  secrets: string[],
): AsyncGenerator<Examination> {
  const { limitMs, env = {} } = options
  const url = addressOf(connection)
  const plainHttp = judgePlainHttp(connection, url)
  if (plainHttp) yield plainHttp
  if (plainHttp?.level === 'problem') return

  const proxy = judgeProxy(url, env)
  if (proxy.finding) yield proxy.finding
  const probed = proxy.used ? undefined : await probe(url, limitMs)
  if (probed) {
    const network = judgeNetwork(probed, url)
    yield network
    const certificate = judgeCertificate(probed, url)
    if (certificate) yield certificate
    if (network.level === 'problem' || certificate?.level === 'problem') return
  }

  const exchanged = await exchange(connection, limitMs)
  const { outcome } = exchanged
  if (exchanged.waitedMs !== undefined) {
    const { lookupMs: lookup, connectMs, tlsMs: tls } = probed ?? {}
    yield { timings: { lookup, connection: connectMs, tls, answer: exchanged.waitedMs } }
  }
  if (outcome instanceof TokenError) {
    yield judgeFailure(exchanged, outcome, url)
    return
  }
  secrets.push(outcome.value)
  const raw = rawAnswer(exchanged)
  yield* judgeAnswer(exchanged, raw, outcome, connection)
  yield* judgeLifetime(exchanged, raw, outcome, connection.expiresInUnit)
  yield* judgeClock(exchanged, raw, outcome.response)
  yield options.tryWrongSecret ? await tryWrongSecret(connection, limitMs) : notTried
}

function judgePlainHttp(connection: Connection, url: URL): Finding | undefined {
  if (url.protocol !== 'http:') return undefined
  if (isAllowedWithout(connection)) {
    return address.note('plain_http_here', 'Plain HTTP, but on this machine alone.')
  }
  const message = `Plain HTTP to ${url.host}: everyone on the way can read the secret and the token.`
  const advice = 'Begin the address with https://; --allow-insecure is for networks of your own.'
  return connection.allowInsecure
    ? address.warning('plain_http', message, advice)
    : address.problem('plain_http', `${message} Nothing was sent.`, advice)
}

function isAllowedWithout(connection: Connection): boolean {
  try {
    buildTokenRequest({ ...connection, allowInsecure: false })
    return true
  } catch {
    return false
  }
}

function rawAnswer({
  status = 0,
  headers = new Headers(),
  body,
}: Exchange): Readonly<Record<string, unknown>> {
  return parseTokenResponse(status, headers, body).raw
}
