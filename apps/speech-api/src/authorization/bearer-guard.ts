import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '../http/api-error.ts'
import { type Introspection, IntrospectionError } from './introspect-token.ts'

/** Lets a request pass, and says whose it is, or throws the answer that it gets. */
export type BearerGuard = (request: FastifyRequest) => Promise<string>

export interface BearerGuardOptions {
  readonly introspect: (token: string) => Promise<Introspection>
  readonly product: string
  /** Milliseconds since 1970. */
  readonly now: () => number
}

const REALM = 'Bearer realm="speech"'
const TOKEN = /^[\w.~+/-]+=*$/ // b64token of RFC 6750, section 2.1

/** Creates the guard that asks for an access token good for one product (RFC 6750). */
export function createBearerGuard({ introspect, product, now }: BearerGuardOptions): BearerGuard {
  return async (request) => {
    const token = /^bearer +(.*)$/i.exec(request.headers.authorization?.trim() ?? '')?.[1]
    if (token === undefined) {
      const message = 'This API needs an access token: send "Authorization: Bearer <token>".'
      // Without credentials the challenge gives no reason (RFC 6750, section 3.1).
      throw new ApiError(401, 'token_missing', message, { headers: { 'www-authenticate': REALM } })
    }
    if (!TOKEN.test(token)) throw invalidToken()
    const { active, clientId, expiresAt, apiProducts } = await introspect(token).catch((error: unknown) => {
      if (!(error instanceof IntrospectionError)) throw error
      request.log.error({ err: error }, 'access token not checked')
      const message = 'The access token cannot be checked at the moment; try again in a few seconds.'
      throw new ApiError(503, 'token_not_checked', message, { headers: { 'retry-after': '5' } })
    })
    if (!active || (expiresAt !== undefined && expiresAt <= now())) throw invalidToken()
    if (!apiProducts.includes(product)) throw insufficientScope(product)
    request.log.info({ clientId }, 'authorized')
    // A token of nobody in particular stands for itself.
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

/** The error body of the gateway that the platform's APIs stand behind. */
function fault(faultstring: string, errorcode: string): object {
  return { fault: { faultstring, detail: { errorcode } } }
}
