import cookiePlugin from '@fastify/cookie'
import formbody from '@fastify/formbody'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { baseUrl, portalRoot } from '../oauth/base-url.ts'
import { AdministratorsOnly, ApplicationChanged, OtherOwners } from '../features/applications/acts.ts'
import { BeingDeleted } from '../features/credentials/acts.ts'
import { unstorablePart } from '../runtime/bounds.ts'
import { NotFoundError, UsageError } from '../runtime/usage-error.ts'
import { ProtocolError } from '../oauth/protocol-error.ts'
import { NoLongerAllowed } from '../storage/act.ts'
import { Overloaded, StorageFailure } from '../storage/storage-failure.ts'
import type { Developer } from '../storage/developer.ts'
import type { ServiceContext } from '../features/context.ts'
import type { RawParameters } from '../oauth/parameters.ts'
import { createSharedRenderings } from '../http/shared-renderings.ts'
import { createRenderingQueue } from '../http/rendering-queue.ts'
import { pageHeaders, sendStaticFile } from '../portal/static-files.ts'
import { isNotice } from '../portal/layout/notices.ts'
import { page, type MenuFacts, type Viewer } from '../portal/layout/page.ts'
import { errorPage } from '../portal/layout/error-page.ts'
import { decorateWithPages, type PortalRequest, type PortalResponse } from '../portal/page-routes.ts'
import { PortalError, type PortalErrorReason } from '../portal/portal-error.ts'
import { createPaths, patterns, referencePath, type Paths } from '../portal/paths.ts'
import { addBackChannelLogOut } from '../features/sessions/back-channel-log-out.ts'
import { createOpenidProvider, type PortalService } from '../features/sessions/openid-provider.ts'
import { createCsrfToken, protectFromCsrf } from '../features/sessions/csrf-protection.ts'
import {
  knownDevice,
  pendingLogIn,
  sessionHash,
  setDeviceCookie,
  setPendingLogIn,
  setSessionCookie,
  type CookieOptions,
} from '../features/sessions/session.ts'
import type { SafeHtml } from '@remix-run/html-template'

/** Serves the developer portal at `/portal`, with the API reference at `/portal/reference`. */
export function addPortal(
  server: FastifyInstance,
  service: ServiceContext,
  features: readonly FeaturePages[],
): void {
  const paths = createPaths(service.publicUrl)
  server.get(referencePath, (_request, reply) => reply.redirect(paths.reference))
  const openid = service.openidProvider && createOpenidProvider(service.openidProvider, service)
  server.register((portal) => addPages(portal, { ...service, openid }, { paths, features }), {
    prefix: portalRoot,
  })
  if (!openid) return
  server.register((portal) => addBackChannelLogOut(portal, service, openid), { prefix: portalRoot })
}

/** Adds the pages of a feature. */
type FeaturePages = (portal: FastifyInstance, service: PortalService) => Promise<void>

interface PortalParts {
  readonly paths: Paths
  readonly features: readonly FeaturePages[]
}

const noticeCookie = 'tokenwell_portal_notice'

async function addPages(
  portal: FastifyInstance,
  service: PortalService,
  { paths, features }: PortalParts,
): Promise<void> {
  const { publicUrl, keyring, storage, clock } = service
  const base = paths.root.slice(0, -portalRoot.length)
  const secure = publicUrl === undefined ? 'auto' : publicUrl.startsWith('https:')
  const cookie: CookieOptions = { path: paths.root, secure, httpOnly: true, sameSite: 'lax' }

  portal.removeAllContentTypeParsers()
  await portal.register(formbody)
  await portal.register(cookiePlugin)
  await protectFromCsrf(portal, keyring, cookie)

  const queue = createRenderingQueue()
  const sendShared = createSharedRenderings(queue)

  async function developerOf(request: FastifyRequest): Promise<Developer | undefined> {
    const hash = sessionHash(request)
    return hash === undefined ? undefined : storage.sessions.find(hash, clock.now())
  }

  async function readRequest(request: FastifyRequest, reply: FastifyReply): Promise<PortalRequest> {
    const { pathname, search } = new URL(request.url, 'http://portal')
    // The root is served with a slash at its end, too.
    const path = `${base}${pathname.replace(/\/$/, '')}`
    const notice = request.cookies[noticeCookie]
    let csrfToken: string | undefined
    return {
      paths,
      // Only pages with forms need one, and all forms of a page the same.
      get csrfToken() {
        return (csrfToken ??= createCsrfToken(request, reply))
      },
      developer: await developerOf(request),
      path,
      url: `${path}${search}`,
      ...(notice !== undefined && isNotice(notice) && { notice }),
      method: request.method,
      params: request.params as Record<string, string>,
      query: request.query as RawParameters,
      form: (request.body ?? {}) as RawParameters,
      address: request.ip,
      userAgent: (request.headers['user-agent'] ?? '').slice(0, 500),
      get baseUrl() {
        return baseUrl(request, publicUrl)
      },
      device: knownDevice(request),
      pendingLogIn: pendingLogIn(request),
      sessionHash: sessionHash(request),
    }
  }

  async function menuFacts({ developer }: Viewer): Promise<MenuFacts> {
    if (!developer) return {}
    const { id, administrator } = developer
    const { listings } = storage
    const [isStarted, awaitingApproval] = await Promise.all([
      listings.hasToken(administrator ? undefined : id),
      administrator ? listings.awaitingCount() : 0,
    ])
    return { isStarted, awaitingApproval }
  }

  async function send(reply: FastifyReply, viewer: Viewer, response: PortalResponse): Promise<FastifyReply> {
    const {
      page: content,
      shared,
      file,
      json,
      redirectTo,
      notice,
      sessionId,
      device,
      retryAfterSeconds,
    } = response
    if (notice !== undefined) void reply.setCookie(noticeCookie, notice, { ...cookie, maxAge: 60 })
    if (sessionId !== undefined) setSessionCookie(reply, sessionId, cookie)
    if (device !== undefined) setDeviceCookie(reply, device, cookie)
    if (response.pendingLogIn !== undefined) setPendingLogIn(reply, response.pendingLogIn, cookie)
    if (retryAfterSeconds !== undefined) void reply.header('retry-after', String(retryAfterSeconds))
    if (redirectTo !== undefined) return reply.header('cache-control', 'no-store').redirect(redirectTo, 303)
    if (file) {
      return reply
        .headers({ ...pageHeaders, 'cache-control': 'no-store' })
        .header('content-disposition', `attachment; filename="${file.name}"`)
        .type(file.type)
        .send(file.text)
    }
    if (shared) {
      // The same for everybody who is not logged in; a notice is for one.
      if (!viewer.developer && viewer.notice !== undefined) await queue.turn()
      if (viewer.developer || viewer.notice !== undefined) return send(reply, viewer, { page: shared() })
      return sendShared(reply.request, reply, {
        baseUrl: baseUrl(reply.request, publicUrl),
        type: 'text/html; charset=utf-8',
        headers: pageHeaders,
        render: () => String(page({ paths, csrfToken: '', path: viewer.path, url: viewer.path }, shared())),
      })
    }
    if (json)
      return reply
        .code(response.status ?? 200)
        .headers({ ...pageHeaders, 'cache-control': 'no-store' })
        .send(json)
    // A page shows it once; a redirect keeps it.
    const { cookies, method } = reply.request
    if (cookies[noticeCookie] !== undefined && method === 'GET') void reply.clearCookie(noticeCookie, cookie)
    return sendPage(reply, page(viewer, content, content.isCard ? {} : await menuFacts(viewer)), response)
  }

  async function sendError(
    thrown: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FastifyReply> {
    const reason = reasonOf(thrown)
    const sentence =
      reason === 'rejected' || reason === 'invalid' ? (thrown as UsageError).message : undefined
    if (reason === 'internal') request.log.error(thrown)
    else if (reason === 'unavailable') service.logFailure(thrown)
    try {
      const viewer = await readRequest(request, reply)
      if (!viewer.developer) await queue.turn()
      return await send(reply, viewer, errorPage(reason, viewer, sentence))
    } catch (error) {
      if (error instanceof Overloaded) return sendOverloaded(reply, error)
      // Error pages are shown without a storage too.
      const csrfToken = createCsrfToken(request, reply)
      const viewer = { paths, csrfToken, path: paths.root, url: paths.root }
      return send(reply, viewer, errorPage(reason, viewer, sentence))
    }
  }

  portal.setErrorHandler(sendError)
  portal.setNotFoundHandler((request, reply) => sendError(new PortalError('not_found'), request, reply))
  async function read(request: FastifyRequest, reply: FastifyReply): Promise<PortalRequest> {
    for (const sent of [request.params, request.query, request.body]) {
      const unstorable = unstorablePart(sent)
      if (unstorable) throw new InvalidRequest(`${unstorable.join(' ')}.`)
    }
    return readRequest(request, reply)
  }

  decorateWithPages(portal, { read, send, turn: () => queue.turn() })
  for (const addFeature of features) await portal.register((pages) => addFeature(pages, service))
  portal.get<{ Params: { name: string } }>(patterns.asset, (request, reply) =>
    sendStaticFile(request.params.name, request, reply),
  )
}

function reasonOf(error: unknown): PortalErrorReason {
  if (error instanceof PortalError) return error.reason
  if (error instanceof ApplicationChanged) return 'application_changed'
  if (error instanceof BeingDeleted) return 'being_deleted'
  if (error instanceof OtherOwners) return 'other_owners'
  if (error instanceof AdministratorsOnly) return 'not_allowed'
  if (error instanceof NoLongerAllowed) return 'no_longer_allowed'
  // Somebody else may have removed it.
  if (error instanceof NotFoundError) return 'not_found'
  if (error instanceof InvalidRequest) return 'invalid'
  if (error instanceof UsageError) return 'rejected'
  if (error instanceof Overloaded) return 'busy'
  if (error instanceof StorageFailure) return 'unavailable'
  if (error instanceof ProtocolError) return 'invalid_form'
  const { statusCode, code = '' } = error as Partial<FastifyError>
  if (code.startsWith('FST_CSRF_')) return 'invalid_csrf_token'
  return statusCode !== undefined && statusCode < 500 ? 'invalid_form' : 'internal'
}

/** Something that was sent cannot be stored, whatever it is for. */
class InvalidRequest extends UsageError {}

/** A page of its own would take what is lacking. */
function sendOverloaded(reply: FastifyReply, { message, retryAfterSeconds }: Overloaded): FastifyReply {
  return reply
    .code(503)
    .headers({ 'retry-after': String(retryAfterSeconds), 'cache-control': 'no-store' })
    .type('text/plain; charset=utf-8')
    .send(message)
}

/** Sends a page that must not be cached. */
function sendPage(
  reply: FastifyReply,
  html: SafeHtml,
  { status = 200, headers = {} }: Pick<PortalResponse, 'status' | 'headers'> = {},
): FastifyReply {
  return reply
    .code(status)
    .headers({ ...pageHeaders, 'cache-control': 'no-store', ...headers })
    .type('text/html; charset=utf-8')
    .send(String(html))
}
