import { checkRequirements, type RequireTokenOptions, type VerifiedToken } from './checks/requirements.ts'
import { hasTokenInQuery } from './http/credentials.ts'
import { logFailure } from './http/failure-log.ts'
import { TokenVerificationError } from './http/token-verification-error.ts'
import { metadataHeaders } from './verifier/resource-metadata.ts'
import type { TokenVerifier } from './verifier/token-verifier.ts'

/** Handles a request whose token is verified; `rest` is what the platform passes besides the request. */
export type TokenHandler<
  Incoming extends Request,
  Rest extends readonly unknown[],
  Token extends VerifiedToken | undefined = VerifiedToken,
> = (request: Incoming, token: Token, ...rest: Rest) => Response | Promise<Response>

/**
 * Wraps a handler of web-standard requests, so that only those with a valid access token reach it; with `optional`, those
 * without a token, too.
 *
 * @example
 * export const GET = requireToken(verifier, (request, token) => Response.json({ client: token.clientId }))
 */
export function requireToken<Incoming extends Request, Rest extends readonly unknown[]>(
  verifier: TokenVerifier,
  handler: TokenHandler<Incoming, Rest>,
  options?: RequireTokenOptions<Incoming> & { readonly optional?: false | undefined },
): (request: Incoming, ...rest: Rest) => Promise<Response>
export function requireToken<Incoming extends Request, Rest extends readonly unknown[]>(
  verifier: TokenVerifier,
  handler: TokenHandler<Incoming, Rest, VerifiedToken | undefined>,
  options: RequireTokenOptions<Incoming>,
): (request: Incoming, ...rest: Rest) => Promise<Response>
export function requireToken<Incoming extends Request, Rest extends readonly unknown[]>(
  verifier: TokenVerifier,
  handler: TokenHandler<Incoming, Rest, VerifiedToken & undefined>,
  { clientCertificate, optional, ...requirements }: RequireTokenOptions<Incoming> = {},
): (request: Incoming, ...rest: Rest) => Promise<Response> {
  checkRequirements(requirements)
  return async (request, ...rest) => {
    let token: VerifiedToken | undefined
    try {
      token = await verifier.verify(credentialsOf(request), {
        ...requirements,
        optional,
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
    return handler(request, token as VerifiedToken & undefined, ...rest)
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
