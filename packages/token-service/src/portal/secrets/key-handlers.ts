import type { RegisteredClient } from '../../storage/application.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { addKeyOfForm, keyNameOfForm } from './key-form.ts'
import { newKeyPage } from './new-key-page.ts'
import type { keyRoutes } from './secret-routes.ts'
import { actorOf } from '../session/actor.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { ownClient } from '../projects/own-projects.ts'

/** The public keys of an application. */
export function keyHandlers({ storage, registryFor }: ServiceContext): HandlersOf<typeof keyRoutes> {
  const show = (request: DeveloperRequest, { application, project }: RegisteredClient, state: FormState) => {
    const { paths } = request
    const action = paths.keys(project.id, application.id)
    const trail = [
      ['Projects', paths.projects],
      [project.name, paths.project(project.id)],
      [application.name, paths.credentials(project.id, application.id)],
    ] as const
    return newKeyPage(request, { action, trail, state })
  }

  return {
    showNewKey: async (request) => ({ page: show(request, await ownClient(storage, request), emptyForm) }),
    async addKey(request) {
      const client = await ownClient(storage, request)
      const { application, project } = client
      const state = await addKeyOfForm(request.form, (key, name) =>
        registryFor(actorOf(request)).addKeys(application, key, name),
      )
      if (state) return { page: show(request, client, state), status: 422 }
      return { redirectTo: request.paths.credentials(project.id, application.id), notice: 'key_added' }
    },
    async renameKey(request) {
      const { application, project } = await ownClient(storage, request)
      const name = keyNameOfForm(request.form)
      await registryFor(actorOf(request)).renameKey(application, request.params['keyId'] ?? '', name)
      return { redirectTo: request.paths.credentials(project.id, application.id), notice: 'key_renamed' }
    },
    async removeKey(request) {
      const { application, project } = await ownClient(storage, request)
      await registryFor(actorOf(request)).removeKey(application, request.params['keyId'] ?? '')
      return { redirectTo: request.paths.credentials(project.id, application.id), notice: 'key_removed' }
    },
  }
}
