import { LastAdministrator } from '../../features/people/acts.ts'
import type { Developer } from '../../features/people/storage.ts'
import type { peopleRoutes } from './people-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { z } from 'zod'
import {
  developerPage,
  developersPage,
  invitationsPage,
  peopleFacets,
  peopleOrders,
  type InvitationsContent,
  type NewLink,
} from './developers-page.ts'
import { listState } from '../layout/list.ts'
import { line, parseForm } from '../layout/parse-form.ts'
import { actorOf, administratorOf, requireAdministrator } from '../session/session.ts'
import { PortalError } from '../portal-error.ts'
import type { DeveloperRequest, HandlersOf, PortalResponse } from '../portal-request.ts'
import { portalLinks } from '../../http/base-url.ts'

const shownProjects = 100
const invitationForm = z.object({ name: line(200) })

/** The list of developers, for the administrator. */
export function developerHandlers({
  storage,
  linksFor,
  developersFor,
  activity,
  clock,
  openidProvider,
}: ServiceContext): HandlersOf<typeof peopleRoutes> {
  const { developers } = storage
  const localPasswords = openidProvider?.localPasswords ?? true

  async function show(request: DeveloperRequest): Promise<PortalResponse> {
    const nowMs = clock.now()
    const facets = Object.keys(peopleFacets) as (keyof typeof peopleFacets)[]
    const state = listState(request.query, { orders: peopleOrders, facets })
    const { search, facet, order, limit, offset } = state
    const people = (role: typeof facet, rows: number) =>
      storage.listings.people({
        search,
        order,
        administrator: role === '' ? undefined : role === 'administrators',
        limit: rows,
        offset: rows === 0 ? 0 : offset,
      })
    const [found, invitations, ...totals] = await Promise.all([
      people(facet, limit),
      developers.invitations(nowMs),
      ...facets.map(async (role) => (await people(role, 0)).total),
    ])
    const ids = found.items.map(({ id }) => id)
    const [administrators = 0, others = 0] = totals
    const content = {
      ...found,
      state,
      counts: { administrators, developers: others },
      projects: await storage.listings.projectNames(ids),
      lastUses: await activity.lastUses(ids),
      invitations: invitations.length,
      nowMs,
    }
    return { page: developersPage(request, content) }
  }

  async function showPerson(
    request: DeveloperRequest,
    person: Developer,
    newLink?: NewLink,
  ): Promise<PortalResponse> {
    const filter = { ownerId: person.id, limit: shownProjects, offset: 0 }
    const [{ items }, lastUses] = await Promise.all([
      storage.listings.projects(filter),
      activity.lastUses([person.id]),
    ])
    const projects = items.map(({ project }) => project)
    const content = { person, projects, lastUses, nowMs: clock.now(), newLink, localPasswords }
    return { page: developerPage(request, content) }
  }

  async function showInvitations(
    request: DeveloperRequest,
    more: Pick<InvitationsContent, 'newLink' | 'state'> = {},
  ): Promise<PortalResponse> {
    const nowMs = clock.now()
    const invitations = await developers.invitations(nowMs)
    return { page: invitationsPage(request, { invitations, nowMs, ...more }) }
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
    showPerson: async (request) => showPerson(request, await developerInUrl(request)),
    async showInvitations(request) {
      requireAdministrator(request)
      return showInvitations(request)
    },
    async invite(request) {
      const links = linksFor(administratorOf(request))
      const parsed = parseForm(invitationForm, request.form)
      if (!parsed.data) return { ...(await showInvitations(request, { state: parsed.state })), status: 422 }
      const { name } = parsed.data
      const { token } = await links.createInvitation({ administrator: false, name })
      const link = `${request.baseUrl}${portalLinks.join(token)}`
      return showInvitations(request, {
        newLink: { title: `Send this link to ${name}`, link, lifetime: '7 days' },
      })
    },
    async withdrawInvitation(request) {
      await linksFor(administratorOf(request)).withdrawInvitation(request.params['hash'] ?? '')
      return { redirectTo: request.paths.invitations, notice: 'invitation_withdrawn' }
    },
    async createPasswordLink(request) {
      const developer = await developerInUrl(request)
      const link = `${request.baseUrl}${portalLinks.newPassword(await linksFor(actorOf(request)).createPasswordReset(developer))}`
      const newLink = { title: `Send this link to ${developer.name}`, link, lifetime: '15 minutes' }
      return showPerson(request, developer, newLink)
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
