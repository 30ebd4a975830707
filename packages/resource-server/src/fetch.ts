import type { RequireTokenOptions, VerifiedToken } from './checks/requirements.ts'
import { hasTokenInQuery } from './http/credentials.ts'
import { logFailure } from './http/failure-log.ts'
import { TokenVerificationError } from './http/token-verification-error.ts'
import { metadataHeaders } from './verifier/resource-metadata.ts'
import type { TokenVerifier } from './verifier/token-verifier.ts'

/** Handles a request whose token is verified; `rest` is what the platform passes besides the request. */
export type TokenHandler<Incoming extends Request, Rest extends readonly unknown[]> = (
  request: Incoming,
  token: VerifiedToken,
  ...rest: Rest
) => Response | Promise<Response>

/**
 * Wraps a handler of web-standard requests, so that only those with a valid access token reach it.
 *
 * @example
 * export const GET = requireToken(verifier, (request, token) => Response.json({ client: token.clientId }))
 */
export function requireToken<Incoming extends Request, Rest extends readonly unknown[]>(
  verifier: TokenVerifier,
  handler: TokenHandler<Incoming, Rest>,
  { clientCertificate, ...requirements }: RequireTokenOptions<Incoming> = {},
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  return async (request, ...rest) => {
    let token: VerifiedToken
    try {
      token = await verifier.verify(credentialsOf(request), {
        ...requirements,
        request: {
          method: request.method,
          url: request.url,
          dpop: request.headers.get('dpop') ?? undefined,
          clientCertificate: clientCertificate?.(request),
          incoming: request,
        },
      })
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      logFailure(error)
      return Response.json(error.body, { status: error.status, headers: error.headers })
    }
    return handler(request, token, ...rest)
  }
}

/**
 * The response to a request for the API's metadata (RFC 9728); undefined for every other request.
 *
 * @example
 * export default { fetch: (request) => resourceMetadata(verifier, request) ?? handle(request) }
 */
export function resourceMetadata(
  { resourceMetadata: metadata }: TokenVerifier,
  { method, url }: Request,
): Response | undefined {
  const isRead = method === 'GET' || method === 'HEAD'
  if (metadata === undefined || !isRead || new URL(url).pathname !== metadata.path) return undefined
  return Response.json(metadata.document, { headers: metadataHeaders })
}

function credentialsOf({ headers, url }: Request): string | readonly string[] | undefined {
  const authorization = headers.get('authorization') ?? undefined
  return authorization && hasTokenInQuery(url) ? [authorization, 'access_token'] : authorization
}
