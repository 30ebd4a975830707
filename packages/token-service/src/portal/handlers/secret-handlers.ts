import { AlreadyExists } from '../../registry/application-registry.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { parseRotation } from '../forms/rotation-form.ts'
import { secretPage } from '../pages/application/secret-page.ts'
import { actorOf } from '../request/actor.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { ownClient } from './own-projects.ts'

export function secretHandlers({ storage, registryFor, clock }: ServiceContext) {
  return {
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
        return { redirectTo: request.paths.application(project.id, application.id) }
      }
    },
    async revokeSecret(request) {
      const client = await ownClient(storage, request)
      await registryFor(actorOf(request)).revokeSecret(client, request.params['secretId'] ?? '')
      const { application, project } = client
      const redirectTo = request.paths.application(project.id, application.id)
      return { redirectTo, notice: 'secret_revoked' }
    },
  } satisfies Record<string, DeveloperHandler>
}
