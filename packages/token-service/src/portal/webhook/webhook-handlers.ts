import { z } from 'zod'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { line, parseForm } from '../layout/parse-form.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'
import { administratorOf, requireAdministrator } from '../session/actor.ts'
import { signingSecretPage, webhookPage } from './webhook-page.ts'
import type { webhookRoutes } from './webhook-routes.ts'

const webhookForm = z.object({ url: line(1_000) })
const maxDeliveries = 50

/** Where events are sent, for administrators. */
export function webhookHandlers({
  storage,
  webhookFor,
  clock,
}: ServiceContext): HandlersOf<typeof webhookRoutes> {
  async function show(request: DeveloperRequest, state: FormState, failure?: string) {
    const [webhook, deliveries] = await Promise.all([
      storage.webhook.find(),
      storage.webhook.list(maxDeliveries),
    ])
    return webhookPage(request, { webhook, deliveries, state, failure, nowMs: clock.now() })
  }

  return {
    async showWebhook(request) {
      requireAdministrator(request)
      return { page: await show(request, emptyForm) }
    },
    async setWebhook(request) {
      const registry = webhookFor(administratorOf(request))
      const parsed = parseForm(webhookForm, request.form)
      if (!parsed.data) return { page: await show(request, parsed.state), status: 422 }
      const { url } = parsed.data
      try {
        return { page: signingSecretPage(request, url, await registry.set(url)) }
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        return { page: await show(request, { values: { url }, errors: { url: error.message } }), status: 422 }
      }
    },
    async testWebhook(request) {
      const { failure } = await webhookFor(administratorOf(request)).test()
      return failure === undefined
        ? { redirectTo: request.paths.webhook, notice: 'webhook_delivered' }
        : { page: await show(request, emptyForm, failure) }
    },
    async removeWebhook(request) {
      await webhookFor(administratorOf(request)).remove()
      return { redirectTo: request.paths.webhook, notice: 'webhook_removed' }
    },
  }
}
