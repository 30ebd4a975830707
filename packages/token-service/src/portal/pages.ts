import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Viewer } from './layout/page.ts'
import { PortalError } from './portal-error.ts'
import type { PathParameter } from './paths.ts'
import type { DeveloperRequest, PortalRequest, PortalResponse } from './portal-request.ts'

/** What the portal does for each of its pages. */
export interface PagesCore {
  readonly read: (request: FastifyRequest, reply: FastifyReply) => Promise<PortalRequest>
  readonly send: (reply: FastifyReply, to: Viewer, response: PortalResponse) => Promise<FastifyReply>
}

export type Access = 'everybody' | 'developers' | 'administrators'

/** The request of a page, with the parameters that its path has. */
type Handler<Request, Path extends string> = (
  request: Request & { readonly params: Readonly<Record<PathParameter<Path>, string>> },
) => Promise<PortalResponse> | PortalResponse

/** Adds pages and forms to the portal. */
export interface Pages<Request extends PortalRequest> {
  readonly get: <Path extends string>(path: Path, handler: Handler<Request, Path>) => void
  /** A form, whose CSRF token has been checked. */
  readonly post: <Path extends string>(path: Path, handler: Handler<Request, Path>) => void
}

const decorator = 'pages'

export function decorateWithPages(portal: FastifyInstance, core: PagesCore): void {
  portal.decorate(decorator, core)
}

/** Pages without a login. */
export function openPages(portal: FastifyInstance): Pages<PortalRequest> {
  return pagesFor(portal, 'everybody', (request) => request)
}

/** Pages for those who are logged in; others are sent to the login page. */
export function developerPages(portal: FastifyInstance): Pages<DeveloperRequest> {
  return pagesFor(portal, 'developers', loggedIn)
}

/** Pages for administrators alone. */
export function administratorPages(portal: FastifyInstance): Pages<DeveloperRequest> {
  return pagesFor(portal, 'administrators', (request) => {
    const found = loggedIn(request)
    if ('developer' in found && !found.developer.administrator) throw new PortalError('not_allowed')
    return found
  })
}

function loggedIn(request: PortalRequest): DeveloperRequest | PortalResponse {
  if (request.developer) return request as DeveloperRequest
  // Continues after the login; a form that was sent would be lost.
  const next = request.method === 'GET' ? `?${new URLSearchParams({ next: request.url })}` : ''
  return { redirectTo: `${request.paths.logIn}${next}` }
}

/** @param admit returns the request, or what is sent instead */
function pagesFor<Request extends PortalRequest>(
  portal: FastifyInstance,
  access: Access,
  admit: (request: PortalRequest) => Request | PortalResponse,
): Pages<Request> {
  const { read, send } = portal.getDecorator<PagesCore>(decorator)
  const add =
    (method: 'GET' | 'POST') =>
    <Path extends string>(path: Path, handler: Handler<Request, Path>): void => {
      portal.route({
        method,
        url: path || '/',
        config: { access },
        async handler(request, reply) {
          const viewer = await read(request, reply)
          const admitted = admit(viewer)
          const response = isRequest(admitted)
            ? await handler(admitted as Parameters<typeof handler>[0])
            : admitted
          return send(reply, viewer, response)
        },
      })
    }
  return { get: add('GET'), post: add('POST') }
}

function isRequest<Request extends PortalRequest>(admitted: Request | PortalResponse): admitted is Request {
  return 'paths' in admitted
}
