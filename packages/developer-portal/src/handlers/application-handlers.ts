import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  AlreadyExists,
  ApplicationChanged,
  type Application,
  type ServiceContext,
} from '@tokenwell/token-service/plugin'
import { tokensByDay, usageDays } from '../components/usage-by-day.ts'
import { applicationFormState, parseApplicationForm } from '../forms/application-form.ts'
import { newApplicationPage, settingsPage } from '../pages/application-form-pages.ts'
import { applicationPage } from '../pages/application-page.ts'
import { secretPage } from '../pages/secret-page.ts'
import { actorOf } from '../request/actor.ts'
import { PortalError } from '../request/portal-error.ts'
import type { DeveloperHandler, DeveloperRequest } from '../request/portal-request.ts'
import { ownClient, ownProject } from './own-projects.ts'

const maxApplications = 100

/** The ID that a form assigns to what it creates: sending it twice creates it once. */
export const submissionForm = z.object({ submission_id: z.uuid() })
const decisionForm = z.discriminatedUnion('decision', [
  z.object({
    decision: z.literal('approve'),
    revision: z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  }),
  z.object({ decision: z.enum(['decline', 'revoke', 'revoke_tokens']) }),
])

export function applicationHandlers({ storage, registryFor, activity, clock }: ServiceContext) {
  /** The catalogue, and what the application has already. */
  async function offeredProducts(application?: Application): Promise<string[]> {
    return [...new Set([...(await storage.products.list()), ...(application?.products ?? [])])]
  }

  async function decide(application: Application, request: DeveloperRequest): Promise<void> {
    const { developer, form } = request
    const registry = registryFor(actorOf(request))
    const { data } = decisionForm.safeParse(form)
    if (!data) throw new PortalError('invalid_form')
    // Owners may end what was approved; only an administrator approves.
    const needsAdministrator = data.decision === 'approve' || data.decision === 'decline'
    if (needsAdministrator && !developer.administrator) throw new PortalError('not_allowed')
    if (data.decision === 'approve') await registry.approve(application, data.revision)
    else if (data.decision === 'decline') await registry.decline(application)
    else if (data.decision === 'revoke') await registry.revoke(application)
    else await registry.revokeTokens(application)
  }

  return {
    async showNewApplication(request) {
      const project = await ownProject(storage, request)
      const products = await offeredProducts()
      const defaults = { name: '', level: '', responseForm: 'products', lifetimeSeconds: 3600 } as const
      const state = applicationFormState({ ...defaults, products: products.slice(0, 1) })
      return { page: newApplicationPage(request, { project, products, state, submissionId: randomUUID() }) }
    },
    async createApplication(request) {
      const { developer, paths, form } = request
      const project = await ownProject(storage, request)
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
        return { page: secretPage(request, { application, project, clientSecret, isFirst: true }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (error instanceof AlreadyExists) return { redirectTo: paths.application(project.id, id) }
        throw error
      }
    },
    async showApplication(request) {
      // First: last uses are part of the client.
      await activity.flush()
      const client = await ownClient(storage, request)
      const nowMs = clock.now()
      const usage = await storage.activity.usage(client.application.clientId, nowMs - usageDays * 86_400_000)
      const days = tokensByDay(usage, nowMs)
      return { page: applicationPage(request, { client, days, nowMs, submissionId: randomUUID() }) }
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
      const registry = registryFor(actorOf(request))
      await reportChange(registry.changeSettings(client.application, parsed.data, administrator))
      return { redirectTo: request.paths.application(client.project.id, client.application.id) }
    },
    async changeApproval(request) {
      const { application, project } = await ownClient(storage, request)
      await reportChange(decide(application, request))
      return { redirectTo: request.paths.application(project.id, application.id) }
    },
  } satisfies Record<string, DeveloperHandler>
}

async function reportChange(change: Promise<void>): Promise<void> {
  try {
    await change
  } catch (error) {
    throw error instanceof ApplicationChanged ? new PortalError('application_changed') : error
  }
}
