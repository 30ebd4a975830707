import { randomUUID } from 'node:crypto'
import { AlreadyExists } from '../../clients/application-registry.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { credentialsPage } from './credentials-page.ts'
import { parseRotation } from './rotation-form.ts'
import { secretPage } from './secret-page.ts'
import type { secretRoutes } from './secret-routes.ts'
import { actorOf } from '../session/actor.ts'
import type { HandlersOf } from '../portal-request.ts'
import { ownClient } from '../projects/own-projects.ts'

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
    async rotateSecret(request) {
      const client = await ownClient(storage, request)
      const { application, project, secrets } = client
      const { secretId, overlapMs, existingSecrets } = parseRotation(request.form, secrets, clock.now())
      try {
        const clientSecret = await registryFor(actorOf(request)).rotateSecret(client, overlapMs, secretId)
        return { page: secretPage(request, { application, project, clientSecret, existingSecrets }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: request.paths.credentials(project.id, application.id) }
      }
    },
    async revokeSecret(request) {
      const client = await ownClient(storage, request)
      await registryFor(actorOf(request)).revokeSecret(client, request.params['secretId'] ?? '')
      const { application, project } = client
      const redirectTo = request.paths.credentials(project.id, application.id)
      return { redirectTo, notice: 'secret_revoked' }
    },
  }
}
