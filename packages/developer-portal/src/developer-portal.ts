import cookiePlugin from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  baseUrl,
  ProtocolError,
  StorageFailure,
  type Developer,
  type DeveloperPortal,
  type RawParameters,
  type ServiceContext,
} from '@tokenwell/token-service/plugin'
import { sendPage } from './components/send-page.ts'
import { sendStaticFile } from './components/static-files.ts'
import { createHandlers } from './handlers/handlers.ts'
import { errorPage, type PageErrorReason } from './pages/error-page.ts'
import { referenceEndpoint } from './reference/reference-endpoint.ts'
import { PortalError } from './request/portal-error.ts'
import type { PortalRequest, PortalResponse } from './request/portal-request.ts'
import {
  assetPattern,
  createPaths,
  portalRoot,
  routes,
  type HandlerName,
  type Paths,
} from './request/routes.ts'
import { createCsrfToken, protectFromCsrf } from './session/csrf-protection.ts'
import { sessionHash, setSessionCookie, type CookieOptions } from './session/session.ts'

/**
 * Serves the developer portal at `/portal` and the API reference at `/reference`.
 *
 * @example
 * await startTokenService({ storage: 'sqlite:tokenwell.db', portal: developerPortal })
 */
export const developerPortal: DeveloperPortal = {
  async plugin(server, { service }) {
    const paths = createPaths(service.publicUrl)
    referenceEndpoint(server, service, paths)
    server.register((portal) => addPortal(portal, service, paths), { prefix: portalRoot })
  },
  joinPath: (token) => createPaths().join(token),
  passwordPath: (token) => createPaths().newPassword(token),
}

async function addPortal(portal: FastifyInstance, service: ServiceContext, paths: Paths): Promise<void> {
  const { publicUrl, keyring, storage, clock } = service
  const handlers = createHandlers(service)
  const secure = publicUrl === undefined ? 'auto' : publicUrl.startsWith('https:')
  const cookie: CookieOptions = { path: paths.root, secure, httpOnly: true, sameSite: 'lax' }

  portal.removeAllContentTypeParsers()
  await portal.register(formbody)
  await portal.register(cookiePlugin)
  await protectFromCsrf(portal, keyring, cookie)

  async function handle(name: HandlerName, request: PortalRequest): Promise<PortalResponse> {
    const { developer } = request
    const forDevelopers = handlers.forDevelopers[name]
    if (!forDevelopers) return (await handlers.forEverybody[name]?.(request)) ?? {}
    return developer ? forDevelopers({ ...request, developer }) : { redirectTo: paths.logIn }
  }

  function send(reply: FastifyReply, response: PortalResponse): FastifyReply {
    const { page, status, redirectTo, sessionId, retryAfterSeconds } = response
    if (sessionId !== undefined) setSessionCookie(reply, sessionId, cookie)
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds))
    if (redirectTo !== undefined) return reply.header('cache-control', 'no-store').redirect(redirectTo, 303)
    return sendPage(reply, page, status)
  }

  async function developerOf(request: FastifyRequest): Promise<Developer | undefined> {
    const hash = sessionHash(request)
    return hash === undefined ? undefined : storage.sessions.find(hash, clock.now())
  }

  async function sendError(thrown: unknown, request: FastifyRequest, reply: FastifyReply) {
    const reason = reasonOf(thrown)
    if (reason === 'internal') request.log.error(thrown)
    else if (reason === 'unavailable') service.logFailure(thrown)
    // Error pages are shown without a storage too.
    const developer = await developerOf(request).catch(() => undefined)
    const csrfToken = createCsrfToken(request, reply)
    return send(reply, errorPage(reason, { paths, developer, csrfToken }))
  }

  portal.setErrorHandler(sendError)
  portal.setNotFoundHandler((request, reply) => sendError(new PortalError('not_found'), request, reply))
  for (const { method, url, handler } of routes) {
    portal.route({
      method,
      url,
      exposeHeadRoute: false,
      async handler(request, reply) {
        const response = await handle(handler, {
          params: request.params as Record<string, string>,
          form: (request.body ?? {}) as RawParameters,
          address: request.ip,
          baseUrl: baseUrl(request, publicUrl),
          csrfToken: createCsrfToken(request, reply),
          sessionHash: sessionHash(request),
          paths,
          developer: await developerOf(request),
        })
        return send(reply, response)
      },
    })
  }
  portal.get<{ Params: { name: string } }>(assetPattern, (request, reply) =>
    sendStaticFile(request.params.name, reply),
  )
}

function reasonOf(error: unknown): PageErrorReason {
  if (error instanceof PortalError) return error.reason
  if (error instanceof StorageFailure) return 'unavailable'
  if (error instanceof ProtocolError) return 'invalid_form'
  const { statusCode, code = '' } = error as Partial<FastifyError>
  if (code.startsWith('FST_CSRF_')) return 'invalid_csrf_token'
  return statusCode !== undefined && statusCode < 500 ? 'invalid_form' : 'internal'
}
