import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { PortalError } from './portal-error.ts'
import type { PathParameter } from './paths.ts'
import type { Developer } from '../storage/developer.ts'
import type { RawParameters } from '../oauth/parameters.ts'
import type { NoticeName } from './layout/notices.ts'
import type { PageContent, Viewer } from './layout/page.ts'

export interface PortalRequest extends Viewer {
  readonly method: string
  readonly params: Readonly<Record<string, string>>
  readonly query: RawParameters
  readonly form: RawParameters
  readonly address: string
  readonly userAgent: string
  /** The service's URL, for links that are sent to other people. */
  readonly baseUrl: string
  /** What shows that this device has logged in before. */
  readonly device?: string | undefined
  /** The log-in at the OpenID provider that this browser has begun, encrypted. */
  readonly pendingLogIn?: string | undefined
  /** The hash of the browser's session ID, if it has one. */
  readonly sessionHash?: string | undefined
}

/** The request of a developer who is logged in. */
export interface DeveloperRequest extends PortalRequest {
  readonly developer: Developer
  readonly sessionHash: string
}

/** A page, a file, JSON for a script of the portal, or a redirect, never nothing. */
export type PortalResponse = ResponseDetails &
  (Content<'page'> | Content<'shared'> | Content<'file'> | Content<'json'> | Content<'redirectTo'>)

interface Contents {
  readonly page: PageContent
  /** A page that is the same for everybody without a session: it is kept, so it has no CSRF token. */
  readonly shared: () => PageContent
  readonly file: PortalFile
  readonly json: object
  readonly redirectTo: string
}

type Content<Kind extends keyof Contents> = Pick<Contents, Kind> & {
  readonly [Other in Exclude<keyof Contents, Kind>]?: undefined
}

interface PortalFile {
  readonly name: string
  readonly type: string
  readonly text: string
}

interface ResponseDetails {
  /** @default 200 */
  readonly status?: number | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly retryAfterSeconds?: number | undefined
  /** What the page after the redirect confirms. */
  readonly notice?: NoticeName | undefined
  /** The ID of a new session; `null` ends the session. */
  readonly sessionId?: string | null | undefined
  /** The log-in at the OpenID provider that begins, encrypted; `null`: it is over. */
  readonly pendingLogIn?: string | null | undefined
  /** What shows later that this device has logged in. */
  readonly device?: string | undefined
}

/** What the portal does for each of its pages. */
export interface PagesCore {
  readonly read: (request: FastifyRequest, reply: FastifyReply) => Promise<PortalRequest>
  readonly send: (reply: FastifyReply, to: Viewer, response: PortalResponse) => Promise<FastifyReply>
  /** Waits until a page for somebody without a session can be rendered. */
  readonly turn: () => Promise<void>
}

export type Access = 'everybody' | 'developers' | 'administrators'

/** The request of a page, with the parameters that its path has. */
type Handler<Request, Path extends string> = (
  request: Request & { readonly params: Readonly<Record<PathParameter<Path>, string>> },
) => Promise<PortalResponse> | PortalResponse

/** Adds pages and forms to the portal. */
export interface Pages<Request extends PortalRequest> {
  /** `isShared`: without a session, it is rendered once and kept. */
  readonly get: <Path extends string>(path: Path, handler: Handler<Request, Path>, isShared?: boolean) => void
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

/** With a session, which both `developer` and `sessionHash` are read from. */
export function isLoggedIn(request: PortalRequest): request is DeveloperRequest {
  return request.developer !== undefined
}

function loggedIn(request: PortalRequest): DeveloperRequest | PortalResponse {
  if (isLoggedIn(request)) return request
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
  const { read, send, turn } = portal.getDecorator<PagesCore>(decorator)
  const add =
    (method: 'GET' | 'POST') =>
    <Path extends string>(path: Path, handler: Handler<Request, Path>, isShared = false): void => {
      portal.route({
        method,
        url: path || '/',
        config: { access },
        async handler(request, reply) {
          const viewer = await read(request, reply)
          const admitted = admit(viewer)
          if (!viewer.developer && method === 'GET' && !isShared) await turn()
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
