import type { TokenError } from '@tokenwell/core'
import { duration } from './duration.ts'
import type { Exchange } from './exchange.ts'
import { failureFacts } from './failure-facts.ts'
import { findingsOf, type Finding } from './finding.ts'
import { explainNoToken } from './explain-no-token.ts'
import { explainRefusal } from './explain-refusal.ts'
import { explainUnreachable } from './judge-network.ts'

const request = findingsOf('request')

/** Names the fault of a token request that failed. */
export function judgeFailure(exchange: Exchange, error: TokenError, url: URL): Finding {
  const { status, headers, complete, timedOut, durationMs, body } = exchange
  if (status === undefined) return explainSilence(exchange, url)
  if (timedOut) {
    return request.problem(
      'answer_unfinished',
      `An answer began (status ${status}), but did not end within ${duration(durationMs)}.`,
      'The service, or a proxy before it, is stuck; its operators have to look. --timeout allows more time.',
    )
  }
  if (status >= 300 && status < 400) return explainRedirect(status, headers?.get('location'), url)
  if (error.kind === 'throttled') return explainThrottling(error)
  if (error.kind === 'credentials') return explainRefusal(error, body)
  if (!complete && !/1 MiB/.test(error.message)) {
    return request.problem(
      'answer_cut_short',
      `The connection broke in the middle of the answer (status ${status}, ${body.length} characters came).`,
      'A proxy or the service hangs up too early; its operators have to look. Tokenwell tries again by itself.',
    )
  }
  if (status === 404 || status === 405 || status === 410) {
    return request.problem(
      'wrong_path',
      `There is no token endpoint at ${url.pathname} (status ${status}).`,
      '--auth-url is the address before /oauth/client_credential/accesstoken; an endpoint elsewhere wants --token-url, in full.',
    )
  }
  if (status >= 500) {
    return request.problem(
      'server_error',
      `The token service is out of order (${failureFacts(error)}).`,
      'Its operators have to look. Tokenwell tries again by itself, three times, then a little later.',
    )
  }
  return explainNoToken(exchange, error, status)
}

function explainSilence(
  { timedOut, durationMs, networkCode = 'unknown error' }: Exchange,
  url: URL,
): Finding {
  if (timedOut) {
    return request.problem(
      'no_answer',
      `The service took the request, and gave no answer within ${duration(durationMs)}.`,
      'It is overloaded or stuck; its operators have to look. --timeout allows more time.',
    )
  }
  if (/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(networkCode)) {
    return request.problem(
      'connection_dropped',
      `The service took the request, and hung up without an answer (${networkCode}).`,
      url.protocol === 'http:'
        ? 'The port may be one for https://. Else a proxy, a firewall or the service breaks connections; its operators have to look.'
        : 'A proxy, a firewall or the service breaks connections; its operators have to look. Tokenwell tries again by itself.',
    )
  }
  if (/^HPE_|HTTPParser|UND_ERR_HEADERS_OVERFLOW/.test(networkCode)) {
    return request.problem(
      'not_http',
      `What answers at ${url.host} does not speak HTTP properly (${networkCode}).`,
      'Check host and port.',
    )
  }
  return explainUnreachable({ stage: 'connection', code: networkCode }, url)
}

function explainRedirect(status: number, location: string | null | undefined, url: URL): Finding {
  const target = location && URL.canParse(location, url) ? new URL(location, url) : undefined
  const where = target ? ` to ${target.origin}${target.pathname}` : ''
  return request.problem(
    'redirected',
    `The service sends the request elsewhere: status ${status}${where}. Nothing was sent there.`,
    target?.protocol === 'https:' && url.protocol === 'http:'
      ? 'Begin the address with https://.'
      : 'If that is where tokens come from now, give that address. If it is a login page, this is not the token endpoint.',
  )
}

function explainThrottling({ status, retryAfterMs }: TokenError): Finding {
  const wait =
    retryAfterMs === undefined ? 'does not say for how long' : `asks to wait ${duration(retryAfterMs)}`
  return request.problem(
    'throttled',
    `The service has had too many requests (status ${status}), and ${wait}.`,
    'Look for programs that ask for a token at each call; one provider for all calls, or a shared store, asks once.',
  )
}
