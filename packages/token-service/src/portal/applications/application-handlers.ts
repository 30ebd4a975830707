import { randomUUID } from 'node:crypto'
import { AlreadyExists } from '../../features/credentials/acts.ts'
import type { Application, Project, RegisteredClient } from '../../storage/application.ts'
import { listState } from '../layout/list.ts'
import { partOf } from '../layout/paging.ts'
import { applicationFacets, applicationOrders, applicationsPage, type Having } from './applications-page.ts'
import { listApplications } from './application-table.ts'
import { requestsPage } from './requests-page.ts'
import type { applicationRoutes } from './application-routes.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { ServiceContext } from '../../service/context.ts'
import { summarizeUsage, usageRanges, usageStart } from './usage.ts'
import {
  applicationFormState,
  newApplication,
  parseApplicationForm,
  type Offered,
} from './application-form.ts'
import { submissionForm } from '../secrets/credential-handlers.ts'
import { newApplicationPage, settingsPage } from './application-form-pages.ts'
import { PortalError } from '../portal-error.ts'
import { applicationPage } from './application-page.ts'
import { startPage } from '../overview/start-page.ts'
import { secretPage } from '../secrets/secret-page.ts'
import { catalogueHints } from '../../features/catalogue/pages.ts'
import { actorOf } from '../session/session.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { ownClient, ownerIdOf, findOwnProject } from '../projects/own-projects.ts'
import { deletionForm } from '../projects/project-handlers.ts'

const maxApplications = 100
const maxPending = 20
const offeredProjects = 200
// The latest ones, among which the result is searched for.
const readRequests = 1_000
const week = usageRanges[1]

/** The product and the scope that the listed applications have, if the URL says so. */
function havingOf({ product, scope }: RawParameters): Having {
  return {
    ...(typeof product === 'string' && product !== '' && { product }),
    ...(typeof scope === 'string' && scope !== '' && { scope }),
  }
}

export function applicationHandlers(service: ServiceContext): HandlersOf<typeof applicationRoutes> {
  const { storage, registryFor, activity, clock } = service

  /** The catalogues, and what the application has. */
  async function offered(application?: Application): Promise<Offered> {
    const [products, scopes] = await Promise.all([storage.products.list(), storage.scopes.list()])
    return {
      products: [...new Set([...products.map(({ name }) => name), ...(application?.products ?? [])])],
      scopes: [...new Set([...scopes.map(({ name }) => name), ...(application?.scopes ?? [])])],
      hints: { products: catalogueHints(products), scopes: catalogueHints(scopes) },
    }
  }

  /** Where the developer can register or move applications: the first ones by name, and the chosen one. */
  async function projectsToChoose(request: DeveloperRequest, chosen?: Project): Promise<Project[]> {
    const filter = { ownerId: ownerIdOf(request), limit: offeredProjects, offset: 0 }
    const { items } = await storage.listings.projects(filter)
    const found = items.map(({ project }) => project)
    const all = chosen && !found.some(({ id }) => id === chosen.id) ? [chosen, ...found] : found
    return all.filter(({ deletesAtMs }) => deletesAtMs === undefined)
  }

  /** Where the application can be moved to. */
  async function otherProjects(
    request: DeveloperRequest,
    { project, application }: RegisteredClient,
  ): Promise<Project[]> {
    const all = await projectsToChoose(request)
    const others = all.filter(({ id }) => id !== project.id)
    if (request.developer.administrator || application.status !== 'approved') return others
    const owners = await storage.listings.owners([project, ...others].map(({ id }) => id))
    const own = owners.get(project.id) ?? []
    return others.filter(({ id }) => owners.get(id)?.every((name) => own.includes(name)))
  }

  return {
    async showNewApplication(request) {
      const chosen = String(request.query['project'] ?? '')
      const project = chosen === '' ? undefined : await findOwnProject(storage, request, chosen)
      const projects = await projectsToChoose(request, project)
      const [first] = projects
      if (first === undefined) return { redirectTo: request.paths.newProject }
      const only = projects.length === 1 ? first.id : ''
      const state = applicationFormState(newApplication)
      const values = { ...state.values, project: project?.id ?? only }
      return {
        page: newApplicationPage(request, {
          projects,
          ...(await offered()),
          state: { ...state, values },
          submissionId: randomUUID(),
        }),
      }
    },
    async createApplication(request) {
      const { developer, paths, form } = request
      const id = submissionForm.safeParse(form).data?.submission_id
      if (id === undefined) throw new PortalError('invalid_form')
      const choices = await offered()
      const chosen = String(form['project'] ?? '')
      const parsed = parseApplicationForm(form, choices)
      if (!parsed.data || chosen === '') {
        const { state } = parsed.data
          ? { state: { values: form as Record<string, string>, errors: { project: 'Choose a project.' } } }
          : parsed
        const projects = await projectsToChoose(request)
        return {
          page: newApplicationPage(request, { projects, ...choices, state, submissionId: id }),
          status: 422,
        }
      }
      const project = await findOwnProject(storage, request, chosen)
      if (project.deletesAtMs !== undefined) throw new PortalError('not_found')
      if ((await storage.applications.list(project.id)).length >= maxApplications) {
        throw new PortalError('too_many_applications')
      }
      const status = developer.administrator ? 'approved' : 'pending'
      if (status === 'pending') {
        const own = { ownerId: developer.id, status, limit: 0, offset: 0 } as const
        const { total } = await storage.listings.applications(own)
        if (total >= maxPending) throw new PortalError('too_many_pending')
      }
      try {
        const { note, ...chosen } = parsed.data
        const review = status === 'pending' && note !== '' ? { review: { note } } : {}
        const details = { ...chosen, ...review, projectId: project.id, status } as const
        const { application, clientSecret } = await registryFor(actorOf(request)).createApplication(
          details,
          id,
        )
        if (form['from'] === 'start') {
          const client = { application, project, secrets: [], scopeAudiences: new Map() }
          const content = { project, client, hasToken: false, ...choices, submissionId: id, clientSecret }
          return { page: startPage(request, content) }
        }
        return { page: secretPage(request, { application, project, clientSecret }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (error instanceof AlreadyExists) return { redirectTo: paths.application(project.id, id) }
        throw error
      }
    },
    async showApplications(request) {
      const facets = Object.keys(applicationFacets) as (keyof typeof applicationFacets)[]
      const state = listState(request.query, { orders: applicationOrders, facets })
      const { search, facet, order, limit, offset } = state
      const having = havingOf(request.query)
      const filter = { ...having, search, ownerId: ownerIdOf(request), nowMs: clock.now() }
      const [part, counts] = await Promise.all([
        listApplications(service, { ...filter, limit, offset, order, status: facet || undefined }),
        storage.listings.applicationCounts(filter),
      ])
      return { page: applicationsPage(request, { ...part, having, state, counts }) }
    },
    async showApplication(request) {
      const client = await ownClient(storage, request)
      const nowMs = clock.now()
      const { id, clientId } = client.application
      const range = usageRanges.find((each) => each.id === request.query['range']) ?? usageRanges[0]
      // Called first, because it writes what is pending.
      const lastUses = await activity.lastUses([id])
      const entries = await storage.activity.usage(clientId, usageStart(range, nowMs))
      const usage = summarizeUsage(entries, range, nowMs)
      return { page: applicationPage(request, { client, usage, lastUses, nowMs }) }
    },
    async showRequests(request) {
      const client = await ownClient(storage, request)
      const nowMs = clock.now()
      const { clientId } = client.application
      await activity.flush()
      const [entries, requests] = await Promise.all([
        storage.activity.usage(clientId, usageStart(week, nowMs)),
        storage.activity.requests(clientId, readRequests),
      ])
      const usage = summarizeUsage(entries, week, nowMs)
      const outcomes = ['issued' as const, ...usage.failures.map(([each]) => each)]
      const state = listState(request.query, { orders: ['time'], facets: outcomes })
      const outcome = state.facet || undefined
      const found = requests.filter((each) => outcome === undefined || each.outcome === outcome)
      const content = {
        client,
        usage,
        requests: partOf(found, state),
        total: found.length,
        state,
        outcome,
      }
      return { page: requestsPage(request, content) }
    },
    async showSettings(request) {
      const client = await ownClient(storage, request)
      const { application } = client
      const state = applicationFormState({ ...application, ...application.requested })
      const content = { ...(await offered(application)), state }
      return {
        page: settingsPage(request, client, {
          ...content,
          otherProjects: await otherProjects(request, client),
        }),
      }
    },
    async changeSettings(request) {
      const client = await ownClient(storage, request)
      const choices = await offered(client.application)
      const parsed = parseApplicationForm(request.form, choices)
      if (!parsed.data) {
        const content = {
          ...choices,
          state: parsed.state,
          otherProjects: await otherProjects(request, client),
        }
        return { page: settingsPage(request, client, content), status: 422 }
      }
      const { administrator } = request.developer
      const { id, clientId } = client.application
      const registry = registryFor(actorOf(request))
      const { note, ...settings } = parsed.data
      await registry.changeSettings(client.application, settings, administrator, note)
      const changed = await storage.applications.findClient(clientId)
      const isRequested =
        changed?.application.requested ?? client.application.status !== changed?.application.status
      const notice = isRequested ? 'changes_requested' : 'application_changed'
      return { redirectTo: request.paths.application(client.project.id, id), notice }
    },
    async moveApplication(request) {
      const { application } = await ownClient(storage, request)
      const { project } = request.form
      const to = await findOwnProject(storage, request, typeof project === 'string' ? project : '')
      const { administrator } = request.developer
      await registryFor(actorOf(request)).moveApplication(application, to.id, administrator)
      return { redirectTo: request.paths.application(to.id, application.id), notice: 'application_moved' }
    },
    async deleteApplication(request) {
      const { application, project } = await ownClient(storage, request)
      const { data } = deletionForm.safeParse(request.form)
      if (!data) throw new PortalError('invalid_form')
      const registry = registryFor(actorOf(request))
      const { administrator } = request.developer
      const redirectTo = request.paths.application(project.id, application.id)
      if (data.decision === 'restore') {
        await registry.restoreApplication(application, administrator)
        return { redirectTo, notice: 'application_restored' }
      }
      await registry.deleteApplication(application, administrator)
      return { redirectTo, notice: 'application_deleted' }
    },
  }
}
