import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { AlreadyDone } from '../applications/application-registry.ts'
import type { ServiceContext } from '../service-context.ts'
import { applicationValues, parseApplicationForm } from './application-form.ts'
import type { DeveloperStep } from './exchange.ts'
import { ownClient, ownProject } from './owned.ts'
import { applicationPage } from './pages/application-page.ts'
import { newApplicationPage, settingsPage } from './pages/application-form-pages.ts'
import { secretPage } from './pages/secret-page.ts'
import { PortalRefusal } from './portal-refusal.ts'
import { tokensByDay, usageDays } from './usage-by-day.ts'

const defaults = {
  name: '',
  products: ['speech-to-text'],
  level: '',
  responseForm: 'products',
  lifetimeSeconds: 3600,
} as const

/** The id that a form gives what it makes, so that sending it twice makes one thing. */
export const onceForm = z.object({ once: z.uuid() })
const statusForm = z.object({ status: z.enum(['approved', 'revoked']) })

export function applicationSteps({ storage, registry, activity, clock }: ServiceContext) {
  return {
    async showNewApplication(exchange) {
      const project = await ownProject(storage, exchange)
      const state = { values: applicationValues(defaults), mistakes: {} }
      return { page: newApplicationPage(exchange, { project, state, once: randomUUID() }) }
    },
    async createApplication(exchange) {
      const { developer, paths, form } = exchange
      const project = await ownProject(storage, exchange)
      const id = onceForm.safeParse(form).data?.once
      if (id === undefined) throw new PortalRefusal('bad_form')
      const parsed = parseApplicationForm(form)
      if (!parsed.data) {
        return { page: newApplicationPage(exchange, { project, state: parsed.state, once: id }), status: 422 }
      }
      const status = developer.administrator ? 'approved' : 'pending'
      try {
        const details = { ...parsed.data, projectId: project.id, status } as const
        const { application, clientSecret } = await registry.createApplication(details, id)
        return { page: secretPage(exchange, { application, project, clientSecret, isFirst: true }) }
      } catch (error) {
        // A page that is loaded again: the secret has been shown.
        if (error instanceof AlreadyDone) return { redirectTo: paths.application(project.id, id) }
        throw error
      }
    },
    async showApplication(exchange) {
      const client = await ownClient(storage, exchange)
      await activity.flush()
      const nowMs = clock.now()
      const usage = await storage.activity.usage(client.application.id, nowMs - usageDays * 86_400_000)
      const days = tokensByDay(usage, nowMs)
      return { page: applicationPage(exchange, { client, days, nowMs, once: randomUUID() }) }
    },
    async showSettings(exchange) {
      const client = await ownClient(storage, exchange)
      const state = { values: applicationValues(client.application), mistakes: {} }
      return { page: settingsPage(exchange, client, state) }
    },
    async changeSettings(exchange) {
      const client = await ownClient(storage, exchange)
      const parsed = parseApplicationForm(exchange.form)
      if (!parsed.data) return { page: settingsPage(exchange, client, parsed.state), status: 422 }
      await registry.changeApplication(client.application, parsed.data)
      return { redirectTo: exchange.paths.application(client.project.id, client.application.id) }
    },
    async changeStatus(exchange) {
      const { application, project } = await ownClient(storage, exchange)
      const status = statusForm.safeParse(exchange.form).data?.status
      if (status === undefined) throw new PortalRefusal('bad_form')
      // Its owner may give an application up; that it is good, another has to say.
      if (status === 'approved' && !exchange.developer.administrator) throw new PortalRefusal('not_allowed')
      await registry.changeApplication(application, { status })
      return { redirectTo: exchange.paths.application(project.id, application.id) }
    },
  } satisfies Record<string, DeveloperStep>
}
