import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AlreadyExists, type ServiceContext } from '@tokenwell/token-service/plugin'
import { applicationValues, parseApplicationForm } from '../forms/application-form.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { ownClient, ownProject } from './own-projects.ts'
import { applicationPage } from '../pages/application-page.ts'
import { newApplicationPage, settingsPage } from '../pages/application-form-pages.ts'
import { secretPage } from '../pages/secret-page.ts'
import { PortalError } from '../request/portal-error.ts'
import { tokensByDay, usageDays } from '../components/usage-by-day.ts'

const defaults = {
  name: '',
  products: ['speech-to-text'],
  level: '',
  responseForm: 'products',
  lifetimeSeconds: 3600,
} as const

/** The ID that a form assigns to what it creates: sending it twice creates it once. */
export const submissionForm = z.object({ submission_id: z.uuid() })
const statusForm = z.object({ status: z.enum(['approved', 'revoked']) })

export function applicationHandlers({ storage, registry, activity, clock }: ServiceContext) {
  return {
    async showNewApplication(request) {
      const project = await ownProject(storage, request)
      const state = { values: applicationValues(defaults), errors: {} }
      return { page: newApplicationPage(request, { project, state, submissionId: randomUUID() }) }
    },
    async createApplication(request) {
      const { developer, paths, form } = request
      const project = await ownProject(storage, request)
      const id = submissionForm.safeParse(form).data?.submission_id
      if (id === undefined) throw new PortalError('invalid_form')
      const parsed = parseApplicationForm(form)
      if (!parsed.data) {
        return {
          page: newApplicationPage(request, { project, state: parsed.state, submissionId: id }),
          status: 422,
        }
      }
      const status = developer.administrator ? 'approved' : 'pending'
      try {
        const details = { ...parsed.data, projectId: project.id, status } as const
        const { application, clientSecret } = await registry.createApplication(details, id)
        return { page: secretPage(request, { application, project, clientSecret, isFirst: true }) }
      } catch (error) {
        // The page was reloaded: the secret was shown already.
        if (error instanceof AlreadyExists) return { redirectTo: paths.application(project.id, id) }
        throw error
      }
    },
    async showApplication(request) {
      const client = await ownClient(storage, request)
      await activity.flush()
      const nowMs = clock.now()
      const usage = await storage.activity.usage(client.application.id, nowMs - usageDays * 86_400_000)
      const days = tokensByDay(usage, nowMs)
      return { page: applicationPage(request, { client, days, nowMs, submissionId: randomUUID() }) }
    },
    async showSettings(request) {
      const client = await ownClient(storage, request)
      const state = { values: applicationValues(client.application), errors: {} }
      return { page: settingsPage(request, client, state) }
    },
    async changeSettings(request) {
      const client = await ownClient(storage, request)
      const parsed = parseApplicationForm(request.form)
      if (!parsed.data) return { page: settingsPage(request, client, parsed.state), status: 422 }
      await registry.changeApplication(client.application, parsed.data)
      return { redirectTo: request.paths.application(client.project.id, client.application.id) }
    },
    async changeStatus(request) {
      const { application, project } = await ownClient(storage, request)
      const status = statusForm.safeParse(request.form).data?.status
      if (status === undefined) throw new PortalError('invalid_form')
      // Owners may revoke their application; only an administrator approves one.
      if (status === 'approved' && !request.developer.administrator) throw new PortalError('not_allowed')
      await registry.changeApplication(application, { status })
      return { redirectTo: request.paths.application(project.id, application.id) }
    },
  } satisfies Record<string, DeveloperHandler>
}
