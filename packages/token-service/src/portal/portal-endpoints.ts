import { parse } from 'node:querystring'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServiceContext } from '../service-context.ts'
import type { Portal, PortalStep } from './portal.ts'

const application = '/projects/:projectId/applications/:applicationId'

const steps: readonly (readonly ['GET' | 'POST', string, PortalStep])[] = [
  ['GET', '/', 'home'],
  ['GET', '/log-in', 'showLogIn'],
  ['POST', '/log-in', 'logIn'],
  ['POST', '/log-out', 'logOut'],
  ['GET', '/join/:token', 'showJoin'],
  ['POST', '/join/:token', 'join'],
  ['GET', '/password/:token', 'showNewPassword'],
  ['POST', '/password/:token', 'setPassword'],
  ['GET', '/account', 'showAccount'],
  ['POST', '/account', 'changePassword'],
  ['GET', '/developers', 'showDevelopers'],
  ['POST', '/developers', 'invite'],
  ['POST', '/developers/:developerId/removal', 'removeDeveloper'],
  ['POST', '/developers/:developerId/password-link', 'linkPassword'],
  ['GET', '/projects', 'showProjects'],
  ['GET', '/new-project', 'showNewProject'],
  ['POST', '/new-project', 'createProject'],
  ['GET', '/projects/:projectId', 'showProject'],
  ['GET', '/projects/:projectId/new-application', 'showNewApplication'],
  ['POST', '/projects/:projectId/new-application', 'createApplication'],
  ['GET', application, 'showApplication'],
  ['GET', `${application}/settings`, 'showSettings'],
  ['POST', `${application}/settings`, 'changeSettings'],
  ['POST', `${application}/status`, 'changeStatus'],
  ['POST', `${application}/secrets`, 'rotateSecret'],
  ['POST', `${application}/secrets/:secretId/revocation`, 'revokeSecret'],
]

/** Serves the developer portal under `/portal`; what it is made of is loaded when someone comes. */
export function portalEndpoints(
  server: FastifyInstance,
  context: ServiceContext,
  publicUrl: string | undefined,
): void {
  let loading: Promise<Portal> | undefined
  const load = () =>
    (loading ??= import('./portal.ts').then(({ createPortal }) => createPortal(context, publicUrl)))

  server.register(
    async (portal) => {
      portal.removeAllContentTypeParsers()
      portal.addContentTypeParser<string>(
        'application/x-www-form-urlencoded',
        { parseAs: 'string' },
        (_request, body, done) => done(null, parse(body)),
      )
      portal.setErrorHandler(async (error, request, reply) => (await load()).refuse(error, request, reply))
      portal.setNotFoundHandler(async (request, reply) => (await load()).notFound(request, reply))
      for (const [method, url, step] of steps) {
        portal.route({
          method,
          url,
          exposeHeadRoute: false,
          handler: async (request: FastifyRequest, reply: FastifyReply) =>
            (await load()).take(step, request, reply),
        })
      }
      portal.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
        const { sendAsset } = await import('./page/assets.ts')
        return sendAsset(request.params.name, reply)
      })
    },
    { prefix: '/portal' },
  )
}
