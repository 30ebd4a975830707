import type { Developer, ServiceContext } from '@tokenwell/token-service/plugin'
import { developersPage } from '../pages/developers-page.ts'
import { actorOf } from '../request/actor.ts'
import { PortalError } from '../request/portal-error.ts'
import type { DeveloperHandler, DeveloperRequest } from '../request/portal-request.ts'
import { createPaths } from '../request/routes.ts'

/** The list of developers, for the administrator. */
export function developerHandlers({ activity, storage, accountLinks }: ServiceContext) {
  const { developers } = storage
  const { join, newPassword } = createPaths()

  function requireAdministrator({ developer }: DeveloperRequest): void {
    if (!developer.administrator) throw new PortalError('not_allowed')
  }

  async function developerInUrl(request: DeveloperRequest): Promise<Developer> {
    requireAdministrator(request)
    const all = await developers.list()
    const developer = all.find(({ id }) => id === request.params['developerId'])
    if (!developer) throw new PortalError('not_found')
    if (developer.administrator) throw new PortalError('invalid_form')
    return developer
  }

  return {
    async showDevelopers(request) {
      requireAdministrator(request)
      return { page: developersPage(request, await developers.list()) }
    },
    async invite(request) {
      requireAdministrator(request)
      const link = `${request.baseUrl}${join(await accountLinks.createInvitation({ administrator: false }))}`
      activity.audit({ event: 'developer_invited', ...actorOf(request) })
      const newLink = { title: 'Send this link to the new developer', link, lifetime: '7 days' }
      return { page: developersPage(request, await developers.list(), newLink) }
    },
    async createPasswordLink(request) {
      const developer = await developerInUrl(request)
      const link = `${request.baseUrl}${newPassword(await accountLinks.createPasswordReset(developer))}`
      activity.audit({ event: 'password_link_created', ...actorOf(request), detail: developer.name })
      const newLink = { title: `Send this link to ${developer.name}`, link, lifetime: '15 minutes' }
      return { page: developersPage(request, await developers.list(), newLink) }
    },
    async removeDeveloper(request) {
      const developer = await developerInUrl(request)
      await developers.remove(developer.id)
      activity.audit({ event: 'developer_removed', ...actorOf(request), detail: developer.name })
      return { redirectTo: request.paths.developers }
    },
  } satisfies Record<string, DeveloperHandler>
}
