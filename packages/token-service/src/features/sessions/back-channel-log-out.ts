import formbody from '@fastify/formbody'
import { decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import type { FastifyError, FastifyInstance } from 'fastify'
import type { ServiceContext } from '../context.ts'
import { InvalidClaim, verifyClaims } from '../../oauth/verify-assertion.ts'
import { sessionStorage, type EndedAtProvider } from './storage.ts'
import { isProviderId, OpenidFailure, type OpenidProvider } from './openid-provider.ts'
import { patterns } from '../../portal/paths.ts'

const logOutEvent = 'http://schemas.openid.net/event/backchannel-logout'
const maxLifetimeSeconds = 3_600

/**
 * Ends sessions here when the provider has ended its own (OpenID Connect Back-Channel Logout 1.0). The provider sends a
 * signed token, not a browser its cookies, so no CSRF token is needed.
 */
export async function addBackChannelLogOut(
  server: FastifyInstance,
  { storage, perform, clock, activity, logFailure }: ServiceContext,
  provider: OpenidProvider,
): Promise<void> {
  const { name, issuer, clientId } = provider.settings

  async function verify(token: string): Promise<EndedAtProvider> {
    const { claims, expiresAtMs } = await verifyClaims(token, provider.keys, {
      issuer,
      requiredClaims: ['aud', 'iat', 'exp', 'jti', 'events'],
      audiences: [clientId],
      nowMs: clock.now(),
      maxLifetimeSeconds,
    })
    const { typ = 'JWT' } = decodeProtectedHeader(token)
    if (!/^(application\/)?(logout\+)?jwt$/i.test(typ)) throw new InvalidClaim('typ')
    const ended = endedBy(claims)
    const isFirst = await storage.assertions.use(`portal log-out ${issuer} ${claims.jti}`, expiresAtMs)
    if (!isFirst) throw new InvalidClaim('jti')
    return ended
  }

  server.removeAllContentTypeParsers()
  await server.register(formbody)
  server.setErrorHandler((error, { ip }, reply) => {
    const reason = reasonOf(error)
    if (reason === undefined) logFailure(error)
    else activity.count({ event: 'log_out_rejected', address: ip, detail: reason })
    // Section 2.8: whatever went wrong.
    return reply.code(400).header('cache-control', 'no-store').send({ error: 'invalid_request' })
  })
  server.post(patterns.backChannelLogOut, async ({ body, ip }, reply) => {
    const { logout_token: token } = (body ?? {}) as Readonly<Record<string, unknown>>
    if (typeof token !== 'string') throw new InvalidClaim('logout_token')
    const ended = await verify(token)
    await perform({ actorType: 'service', actor: name, address: ip }, async (act) => {
      const names = await sessionStorage(act).closeOfProvider(ended)
      for (const detail of names) act.audit('sessions_ended', { detail })
    })
    return reply.header('cache-control', 'no-store').send()
  })
}

/** Section 2.6, steps 4 to 7. */
function endedBy({ iss: issuer = '', sub: subject, sid, jti, events, nonce }: JWTPayload): EndedAtProvider {
  if (!isObject(events) || !isObject(events[logOutEvent])) throw new InvalidClaim('events')
  // Of an ID token.
  if (nonce !== undefined) throw new InvalidClaim('nonce')
  if (!isProviderId(jti)) throw new InvalidClaim('jti')
  if (sid !== undefined && !isProviderId(sid)) throw new InvalidClaim('sid')
  if (isProviderId(subject)) return { issuer, subject, sid }
  if (subject !== undefined || sid === undefined) throw new InvalidClaim('sub')
  return { issuer, sid }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** From lists of our own or of libraries, never text of the request; `undefined`: the request is not the reason. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof InvalidClaim) return error.claim
  if (error instanceof OpenidFailure) return error.reason
  if (error instanceof errors.JOSEError) return error.code
  const { statusCode = 500, code } = error as Partial<FastifyError>
  return statusCode < 500 ? code : undefined
}
