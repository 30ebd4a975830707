import { randomUUID } from 'node:crypto'
import type { ServiceContext } from '../../oauth/service-context.ts'
import type { HandlersOf } from '../portal-request.ts'
import { ownClient } from '../projects/own-projects.ts'
import { actorOf } from '../session/actor.ts'
import { credentialHandlers } from './credential-handlers.ts'
import { credentialsPage } from './credentials-section.ts'
import { secretPage } from './secret-page.ts'
import type { secretRoutes } from './secret-routes.ts'

/** The credentials of an application. */
export function secretHandlers({
  storage,
  registryFor,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof secretRoutes> {
  return {
    async showCredentials(request) {
      const client = await ownClient(storage, request)
      const { application, secrets } = client
      const used = [application, ...secrets, ...application.keys].map(({ id }) => id)
      const content = {
        lastUses: await activity.lastUses(used),
        nowMs: clock.now(),
        submissionId: randomUUID(),
      }
      return { page: credentialsPage(request, client, content) }
    },
    ...credentialHandlers(clock, async (request) => {
      const { paths } = request
      const { application, project, secrets } = await ownClient(storage, request)
      const list = paths.credentials(project.id, application.id)
      return {
        owner: { ...application, secrets },
        registry: registryFor(actorOf(request)),
        list,
        action: paths.keys(project.id, application.id),
        trail: [
          ['Projects', paths.projects],
          [project.name, paths.project(project.id)],
          [application.name, list],
        ],
        secretPage: (secret) => secretPage(request, { application, project, ...secret }),
      }
    }),
  }
}
