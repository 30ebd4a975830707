import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ApiError } from './api-error.ts'
import { type Introspection, IntrospectionError } from '../authorization/introspect-token.ts'

/** Returns the client that sent the request; throws `ApiError` if its access token does not allow the request. */
export type BearerGuard = (request: FastifyRequest) => Promise<string>

export interface BearerGuardOptions {
  readonly introspect: (token: string) => Promise<Introspection>
  readonly product: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const REALM = 'Bearer realm="speech"'
const TOKEN = /^[\w.~+/-]+=*$/ // b64token of RFC 6750, section 2.1

/** Creates a guard that requires an access token for one product (RFC 6750). */
export function createBearerGuard({ introspect, product, now }: BearerGuardOptions): BearerGuard {
  return async (request) => {
    const token = /^bearer +(.*)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
    if (token === undefined) {
      const message = 'The access token is missing. Send it as "Authorization: Bearer <token>".'
      // A request without credentials gets a challenge without a reason (RFC 6750, section 3.1).
      throw new ApiError(401, 'token_missing', message, { headers: { 'www-authenticate': REALM } })
    }
    if (!TOKEN.test(token)) throw invalidToken()
    const { active, clientId, expiresAt, apiProducts } = await introspect(token).catch((error: unknown) => {
      if (!(error instanceof IntrospectionError)) throw error
      request.log.error({ err: error }, 'introspection failed')
      const message = 'The access token could not be checked. Try again in a few seconds.'
      throw new ApiError(503, 'token_check_failed', message, { headers: { 'retry-after': '5' } })
    })
    if (!active || (expiresAt !== undefined && expiresAt <= now())) throw invalidToken()
    if (!apiProducts.includes(product)) throw insufficientScope(product)
    request.log.info({ clientId }, 'authorized')
    // A token without a client counts as a client of its own.
    return clientId === undefined
      ? `token ${createHash('sha256').update(token).digest('hex')}`
      : `client ${clientId}`
  }
}

function invalidToken(): ApiError {
  const challenge = `${REALM}, error="invalid_token", error_description="The access token is invalid or expired"`
  return new ApiError(401, 'invalid_token', 'The access token is invalid or expired.', {
    headers: { 'www-authenticate': challenge },
    body: fault('Invalid Access Token', 'keymanagement.service.invalid_access_token'),
  })
}

function insufficientScope(product: string): ApiError {
  const description = `The access token does not cover the product ${product}`
  return new ApiError(403, 'insufficient_scope', `${description}.`, {
    headers: {
      'www-authenticate': `${REALM}, error="insufficient_scope", error_description="${description}"`,
    },
    body: fault(
      'Invalid API call as no apiproduct match found',
      'keymanagement.service.InvalidAPICallAsNoApiProductMatchFound',
    ),
  })
}

/** The error body of the platform's API gateway. */
function fault(faultstring: string, errorcode: string): object {
  return { fault: { faultstring, detail: { errorcode } } }
}
