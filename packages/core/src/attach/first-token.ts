import { headerValue } from '../protocol/headers.ts'
import type { AccessToken } from '../provider/access-token.ts'
import type { GetTokenOptions, TokenProvider } from '../provider/token-provider.ts'
import type { ApiChallenge } from '../sources/token-source.ts'
import type { ApiResponse, AttachRequest, SentRequest } from './attacher.ts'
import { absoluteUrl } from './origins.ts'

/** What came back for a request without a token. */
interface Unauthenticated<Result> {
  readonly sent: SentRequest<Result>
  readonly isRejected: boolean
}

/**
 * Gets the token for a request. A source that does not know yet where the API's tokens come from has the request sent without
 * one: the challenge of the response says so (RFC 9728, section 5.1).
 *
 * @param isRejection whether an API responds so to a request without a valid token
 * @returns the response instead of a token if the API accepts the request without one, or if it cannot be sent again
 * @throws what `send` throws
 */
export async function firstToken<Result>(
  provider: Pick<TokenProvider, 'getToken'>,
  request: AttachRequest,
  options: GetTokenOptions,
  send: () => Promise<SentRequest<Result>>,
  isRejection: (response: ApiResponse) => Promise<boolean>,
): Promise<AccessToken | SentRequest<Result>> {
  let asked: Promise<Unauthenticated<Result>> | undefined
  let leave: (response: SentRequest<Result> | Promise<never>) => void
  const instead = new Promise<SentRequest<Result>>((resolve) => (leave = resolve))

  const ask = async (): Promise<Unauthenticated<Result>> => {
    const sent = await send()
    return { sent, isRejected: await isRejection(sent) }
  }
  const challenge: ApiChallenge = {
    get url() {
      return String(absoluteUrl(request.target?.() ?? request.url))
    },
    async header() {
      asked ??= ask()
      try {
        const { sent, isRejected } = await asked
        if (isRejected) return headerValue(sent.headers, 'www-authenticate') ?? ''
        // Others may go on waiting for the token.
        leave(sent)
      } catch {
        leave(asked as Promise<never>)
      }
      return undefined
    },
  }
  try {
    const found = await Promise.race([provider.getToken({ ...options, challenge }), instead])
    // The source does not wait for a slow response, but the request must not be sent twice.
    const response = await asked
    if (response === undefined) return found
    const { sent, isRejected } = response
    const repeatable = (await sent.isRepeatable?.()) ?? request.repeatable ?? true
    if (!isRejected || !repeatable) return sent
    sent.discard?.()
    return found
  } catch (error) {
    const response = await asked?.catch(() => undefined)
    if (response && !response.isRejected) return response.sent
    response?.sent.discard?.()
    throw error
  }
}
