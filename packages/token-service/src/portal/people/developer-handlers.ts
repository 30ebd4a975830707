import { LastAdministrator } from '../../clients/developer-registry.ts'
import type { Developer } from '../../storage/developer-storage.ts'
import type { peopleRoutes } from './people-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { developersPage, shownProjects, type NewLink } from './developers-page.ts'
import { pagingOf, partOf } from '../layout/paging.ts'
import { actorOf, administratorOf, requireAdministrator } from '../session/actor.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest, HandlersOf, PortalResponse } from '../portal-request.ts'
import { portalLinks } from '../../http/base-url.ts'

/** The list of developers, for the administrator. */
export function developerHandlers({
  storage,
  linksFor,
  developersFor,
  clock,
  openidProvider,
}: ServiceContext): HandlersOf<typeof peopleRoutes> {
  const { developers } = storage
  const localPasswords = openidProvider?.localPasswords ?? true

  async function show(request: DeveloperRequest, newLink?: NewLink): Promise<PortalResponse> {
    const [all, invitations] = await Promise.all([developers.list(), developers.invitations(clock.now())])
    const paging = pagingOf(request.query)
    const found = all.filter(({ name }) => name.includes(paging.search.toLowerCase()))
    const shown = await Promise.all(
      partOf(found, paging).map(async (developer) => {
        const filter = { ownerId: developer.id, limit: shownProjects, offset: 0 }
        return { ...developer, projects: await storage.listings.projects(filter) }
      }),
    )
    const content = { invitations, nowMs: clock.now(), newLink, paging, total: found.length, localPasswords }
    return { page: developersPage(request, { ...content, developers: shown }) }
  }

  async function developerInUrl(request: DeveloperRequest): Promise<Developer> {
    requireAdministrator(request)
    const all = await developers.list()
    const developer = all.find(({ id }) => id === request.params['developerId'])
    if (!developer) throw new PortalError('not_found')
    return developer
  }

  return {
    async showDevelopers(request) {
      requireAdministrator(request)
      return show(request)
    },
    async invite(request) {
      const { token } = await linksFor(administratorOf(request)).createInvitation({ administrator: false })
      const link = `${request.baseUrl}${portalLinks.join(token)}`
      const newLink = { title: 'Send this link to the new developer', link, lifetime: '7 days' }
      return show(request, newLink)
    },
    async withdrawInvitation(request) {
      await linksFor(administratorOf(request)).withdrawInvitation(request.params['hash'] ?? '')
      return { redirectTo: request.paths.developers, notice: 'invitation_withdrawn' }
    },
    async createPasswordLink(request) {
      const developer = await developerInUrl(request)
      const link = `${request.baseUrl}${portalLinks.newPassword(await linksFor(actorOf(request)).createPasswordReset(developer))}`
      const newLink = { title: `Send this link to ${developer.name}`, link, lifetime: '15 minutes' }
      return show(request, newLink)
    },
    async removeDeveloper(request) {
      const developer = await developerInUrl(request)
      await keepAdministrator(developersFor(actorOf(request)).remove(developer))
      return { redirectTo: request.paths.developers, notice: 'developer_removed' }
    },
    async changeRole(request) {
      const developer = await developerInUrl(request)
      const registry = developersFor(actorOf(request))
      // As the page showed it: a form that is sent twice changes it once.
      if (request.form['administrator'] === 'yes') {
        await registry.promote(developer)
        return { redirectTo: request.paths.developers, notice: 'developer_promoted' }
      }
      await keepAdministrator(registry.demote(developer))
      const isSelf = developer.id === request.developer.id
      return {
        redirectTo: isSelf ? request.paths.projects : request.paths.developers,
        notice: 'developer_demoted',
      }
    },
  }
}

async function keepAdministrator(change: Promise<void>): Promise<void> {
  try {
    await change
  } catch (error) {
    throw error instanceof LastAdministrator ? new PortalError('last_administrator') : error
  }
}
