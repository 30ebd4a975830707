import { UsageError } from '@tokenwell/token-service'
import type { ServiceContext } from '@tokenwell/token-service/plugin'
import { emptyForm } from '../components/form.ts'
import { newKeyPage } from '../pages/new-key-page.ts'
import { actorOf } from '../request/actor.ts'
import { PortalError } from '../request/portal-error.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { ownClient } from './own-projects.ts'

/** The public keys of an application. */
export function keyHandlers({ storage, registryFor }: ServiceContext) {
  return {
    showNewKey: async (request) => ({
      page: newKeyPage(request, await ownClient(storage, request), emptyForm),
    }),
    async addKey(request) {
      const client = await ownClient(storage, request)
      const { key } = request.form
      if (typeof key !== 'string') throw new PortalError('invalid_form')
      try {
        await registryFor(actorOf(request)).addKeys(client.application, key)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        // A private key that was pasted by mistake is not sent back.
        const values = { key: key.includes('PRIVATE') ? '' : key }
        return { page: newKeyPage(request, client, { values, errors: { key: error.message } }), status: 422 }
      }
      const { application, project } = client
      return { redirectTo: request.paths.application(project.id, application.id), notice: 'key_added' }
    },
    async removeKey(request) {
      const { application, project } = await ownClient(storage, request)
      await registryFor(actorOf(request)).removeKey(application, request.params['keyId'] ?? '')
      return { redirectTo: request.paths.application(project.id, application.id), notice: 'key_removed' }
    },
  } satisfies Record<string, DeveloperHandler>
}
