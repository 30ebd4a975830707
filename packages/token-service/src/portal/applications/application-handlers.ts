import { randomUUID } from 'node:crypto'
import { AlreadyExists } from '../../registry/application-registry.ts'
import type { Application } from '../../applications/application.ts'
import type { applicationRoutes } from './application-routes.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { summarizeUsage, usageRanges, usageStart } from './usage.ts'
import { applicationFormState, parseApplicationForm } from './application-form.ts'
import { submissionForm } from '../secrets/rotation-form.ts'
import { newApplicationPage, settingsPage } from './application-form-pages.ts'
import { reportChange } from './report-change.ts'
import { applicationPage } from './application-page.ts'
import { secretPage } from '../secrets/secret-page.ts'
import { actorOf } from '../session/actor.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf } from '../portal-request.ts'
import { ownClient, ownProject, ownProjects } from '../projects/own-projects.ts'
import { deletionForm } from '../projects/project-handlers.ts'

const maxApplications = 100
const shownRequests = 20

export function applicationHandlers({
  storage,
  registryFor,
  activity,
  clock,
}: ServiceContext): HandlersOf<typeof applicationRoutes> {
  /** The catalogue, and the products of the application. */
  async function offeredProducts(application?: Application): Promise<string[]> {
    return [...new Set([...(await storage.products.list()), ...(application?.products ?? [])])]
  }

  return {
    async showNewApplication(request) {
      const project = await ownProject(storage, request)
      if (project.deletesAtMs !== undefined) throw new PortalError('not_found')
      const products = await offeredProducts()
      const defaults = { name: '', level: '', responseForm: 'products', lifetimeSeconds: 3600 } as const
      const state = applicationFormState({ ...defaults, products: products.slice(0, 1) })
      return { page: newApplicationPage(request, { project, products, state, submissionId: randomUUID() }) }
    },
    async createApplication(request) {
      const { developer, paths, form } = request
      const project = await ownProject(storage, request)
      if (project.deletesAtMs !== undefined) throw new PortalError('not_found')
      const id = submissionForm.safeParse(form).data?.submission_id
      if (id === undefined) throw new PortalError('invalid_form')
      const products = await offeredProducts()
      const parsed = parseApplicationForm(form, products)
      if (!parsed.data) {
        const { state } = parsed
        return {
          page: newApplicationPage(request, { project, products, state, submissionId: id }),
          status: 422,
        }
      }
      if ((await storage.applications.list(project.id)).length >= maxApplications) {
        throw new PortalError('too_many_applications')
      }
      const status = developer.administrator ? 'approved' : 'pending'
      try {
        const details = { ...parsed.data, projectId: project.id, status } as const
        const { application, clientSecret } = await registryFor(actorOf(request)).createApplication(
          details,
          id,
        )
        return { page: secretPage(request, { application, project, clientSecret }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (error instanceof AlreadyExists) return { redirectTo: paths.application(project.id, id) }
        throw error
      }
    },
    async showApplication(request) {
      const client = await ownClient(storage, request)
      const nowMs = clock.now()
      const { clientId, projectId, keys } = client.application
      const range = usageRanges.find(({ id }) => id === request.query['range']) ?? usageRanges[0]
      const used = [client.application, ...client.secrets, ...keys].map(({ id }) => id)
      // Called first, because it writes what is pending.
      const lastUses = await activity.lastUses(used)
      const [entries, requests, projects] = await Promise.all([
        storage.activity.usage(clientId, usageStart(range, nowMs)),
        storage.activity.requests(clientId, shownRequests),
        ownProjects(storage, request),
      ])
      const otherProjects = projects.filter(
        ({ id, deletesAtMs }) => id !== projectId && deletesAtMs === undefined,
      )
      const usage = summarizeUsage(entries, range, nowMs)
      const submissionId = randomUUID()
      const content = { client, usage, requests, otherProjects, lastUses, nowMs, submissionId }
      return { page: applicationPage(request, content) }
    },
    async showSettings(request) {
      const client = await ownClient(storage, request)
      const { application } = client
      const state = applicationFormState({ ...application, ...application.requested })
      return { page: settingsPage(request, client, { products: await offeredProducts(application), state }) }
    },
    async changeSettings(request) {
      const client = await ownClient(storage, request)
      const products = await offeredProducts(client.application)
      const parsed = parseApplicationForm(request.form, products)
      if (!parsed.data) {
        return { page: settingsPage(request, client, { products, state: parsed.state }), status: 422 }
      }
      const { administrator } = request.developer
      const { id, clientId } = client.application
      const registry = registryFor(actorOf(request))
      await reportChange(registry.changeSettings(client.application, parsed.data, administrator))
      const changed = await storage.applications.findClient(clientId)
      const notice = changed?.application.requested ? 'changes_requested' : 'application_changed'
      return { redirectTo: request.paths.application(client.project.id, id), notice }
    },
    async moveApplication(request) {
      const { application } = await ownClient(storage, request)
      const projects = await ownProjects(storage, request)
      const to = projects.find(({ id }) => id === request.form['project'])
      if (!to || to.deletesAtMs !== undefined) throw new PortalError('invalid_form')
      await registryFor(actorOf(request)).moveApplication(application, to)
      return { redirectTo: request.paths.application(to.id, application.id), notice: 'application_moved' }
    },
    async deleteApplication(request) {
      const { application, project } = await ownClient(storage, request)
      const { data } = deletionForm.safeParse(request.form)
      if (!data) throw new PortalError('invalid_form')
      const registry = registryFor(actorOf(request))
      const redirectTo = request.paths.application(project.id, application.id)
      if (data.decision === 'restore') {
        await registry.restoreApplication(application)
        return { redirectTo, notice: 'application_restored' }
      }
      await registry.deleteApplication(application)
      return { redirectTo, notice: 'application_deleted' }
    },
  }
}
