import { z } from 'zod'
import { AlreadyDone } from '../applications/application-registry.ts'
import type { ServiceContext } from '../service-context.ts'
import { onceForm } from './application-steps.ts'
import type { DeveloperStep } from './exchange.ts'
import { ownClient } from './owned.ts'
import { overlaps } from './overlaps.ts'
import { secretPage } from './pages/secret-page.ts'
import { PortalRefusal } from './portal-refusal.ts'

const maxSecrets = 10
const rotationForm = onceForm.extend({ overlap: z.enum(overlaps.map(([value]) => value)) })

export function secretSteps({ storage, registry }: ServiceContext) {
  return {
    async rotateSecret(exchange) {
      const client = await ownClient(storage, exchange)
      const { application, project, secrets } = client
      const { data } = rotationForm.safeParse(exchange.form)
      if (!data) throw new PortalRefusal('bad_form')
      if (secrets.length >= maxSecrets) throw new PortalRefusal('too_many_secrets')
      const overlapMs = (overlaps.find(([value]) => value === data.overlap)?.[2] ?? Infinity) * 1000
      try {
        const clientSecret = await registry.rotateSecret(client, overlapMs, data.once)
        return { page: secretPage(exchange, { application, project, clientSecret, isFirst: false }) }
      } catch (error) {
        if (!(error instanceof AlreadyDone)) throw error
        return { redirectTo: exchange.paths.application(project.id, application.id) }
      }
    },
    async revokeSecret(exchange) {
      const client = await ownClient(storage, exchange)
      await registry.revokeSecret(client, exchange.params['secretId'] ?? '')
      const { application, project } = client
      return { redirectTo: exchange.paths.application(project.id, application.id) }
    },
  } satisfies Record<string, DeveloperStep>
}
