import csrfPlugin from '@fastify/csrf-protection'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Keyring } from '../../runtime/keyring.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { csrfFieldName } from '../../portal/layout/form.ts'
import { sessionHash, type CookieOptions } from './session.ts'

/** Requires in every POST request a token that is bound to the browser's cookie and to its session. */
export async function protectFromCsrf(
  server: FastifyInstance,
  keyring: Keyring,
  cookie: CookieOptions,
): Promise<void> {
  await server.register(csrfPlugin, {
    cookieKey: 'tokenwell_portal_csrf',
    cookieOpts: cookie,
    csrfOpts: { hmacKey: keyring.hash('portal csrf key').hash, userInfo: true },
    getUserInfo: userInfo,
    getToken: ({ body }) => String((body as RawParameters | undefined)?.[csrfFieldName] ?? ''),
  })
  server.addHook('preHandler', (request, reply, done) =>
    request.method === 'POST' ? server.csrfProtection(request, reply, done) : done(),
  )
}

/** A token for the forms of this browser; sets its cookie if it has none. */
export function createCsrfToken(request: FastifyRequest, reply: FastifyReply): string {
  return reply.generateCsrf({ userInfo: userInfo(request) })
}

function userInfo(request: FastifyRequest): string {
  return sessionHash(request) ?? 'anonymous'
}
