import { randomUUID } from 'node:crypto'
import { AlreadyExists } from '../../clients/credential-registry.ts'
import type { Application, Project, RegisteredClient } from '../../storage/application.ts'
import type { ListedStatus } from '../../storage/listing-storage.ts'
import { pagingOf } from '../layout/paging.ts'
import { applicationsPage, statusChoices } from './applications-page.ts'
import { listApplications } from './application-table.ts'
import { requestsPage } from './requests-page.ts'
import type { applicationRoutes } from './application-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { summarizeUsage, usageRanges, usageStart } from './usage.ts'
import {
  applicationFormState,
  newApplication,
  parseApplicationForm,
  type Offered,
} from './application-form.ts'
import { submissionForm } from '../secrets/rotation-form.ts'
import { newApplicationPage, settingsPage } from './application-form-pages.ts'
import { PortalError } from '../portal-error.ts'
import { applicationPage } from './application-page.ts'
import { startPage } from '../overview/start-page.ts'
import { secretPage } from '../secrets/secret-page.ts'
import { actorOf } from '../session/actor.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { ownClient, ownerIdOf, findOwnProject, ownProject } from '../projects/own-projects.ts'
import { deletionForm } from '../projects/project-handlers.ts'

const maxApplications = 100
const maxPending = 20
const offeredProjects = 100
const shownRequests = 50
// The latest ones, among which the result is searched for.
const readRequests = 1_000
const week = usageRanges[1]

export function applicationHandlers(service: ServiceContext): HandlersOf<typeof applicationRoutes> {
  const { storage, registryFor, activity, clock } = service

  /** The catalogues, and what the application has. */
  async function offered(application?: Application): Promise<Offered> {
    const [products, scopes] = await Promise.all([storage.products.list(), storage.scopes.list()])
    return {
      products: [...new Set([...products, ...(application?.products ?? [])])],
      scopes: [...new Set([...scopes, ...(application?.scopes ?? [])])],
    }
  }

  /** Where the application can be moved to. */
  async function otherProjects(
    request: DeveloperRequest,
    { project, application }: RegisteredClient,
  ): Promise<Project[]> {
    const filter = { ownerId: ownerIdOf(request), limit: offeredProjects, offset: 0 }
    const { items } = await storage.listings.projects(filter)
    const others = items
      .map((each) => each.project)
      .filter(({ id, deletesAtMs }) => id !== project.id && deletesAtMs === undefined)
    if (request.developer.administrator || application.status !== 'approved') return others
    const owners = await storage.listings.owners([project, ...others].map(({ id }) => id))
    const own = owners.get(project.id) ?? []
    return others.filter(({ id }) => owners.get(id)?.every((name) => own.includes(name)))
  }

  return {
    async showNewApplication(request) {
      const project = await ownProject(storage, request)
      if (project.deletesAtMs !== undefined) throw new PortalError('not_found')
      const choices = await offered()
      const state = applicationFormState({ ...newApplication, products: choices.products.slice(0, 1) })
      return { page: newApplicationPage(request, { project, ...choices, state, submissionId: randomUUID() }) }
    },
    async createApplication(request) {
      const { developer, paths, form } = request
      const project = await ownProject(storage, request)
      if (project.deletesAtMs !== undefined) throw new PortalError('not_found')
      const id = submissionForm.safeParse(form).data?.submission_id
      if (id === undefined) throw new PortalError('invalid_form')
      const choices = await offered()
      const parsed = parseApplicationForm(form, choices)
      if (!parsed.data) {
        const { state } = parsed
        return {
          page: newApplicationPage(request, { project, ...choices, state, submissionId: id }),
          status: 422,
        }
      }
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
          const client = { application, project, secrets: [] }
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
      const paging = pagingOf(request.query)
      const status = statusOf(request.query['status'])
      const list = await listApplications(service, { ...paging, ownerId: ownerIdOf(request), status })
      return { page: applicationsPage(request, { ...list, paging, status }) }
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
      const { result } = request.query
      const outcome = ['issued' as const, ...usage.failures.map(([each]) => each)].find(
        (each) => each === result,
      )
      const shown = requests.filter((each) => outcome === undefined || each.outcome === outcome)
      const content = { client, usage, requests: shown.slice(0, shownRequests), outcome, nowMs }
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

function statusOf(text: unknown): ListedStatus | undefined {
  const [status] = statusChoices.find(([each]) => each === text) ?? ['']
  return status === '' ? undefined : status
}
