import { z } from 'zod'
import { AlreadyExists, type ServiceContext } from '@tokenwell/token-service/plugin'
import { submissionForm } from './application-handlers.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { ownClient } from './own-projects.ts'
import { overlaps } from '../forms/secret-overlaps.ts'
import { secretPage } from '../pages/secret-page.ts'
import { actorOf } from '../request/actor.ts'
import { PortalError } from '../request/portal-error.ts'

const maxSecrets = 10
const rotationForm = submissionForm.extend({ overlap: z.enum(overlaps.map(([value]) => value)) })

export function secretHandlers({ storage, registryFor, clock }: ServiceContext) {
  return {
    async rotateSecret(request) {
      const client = await ownClient(storage, request)
      const { application, project, secrets } = client
      const { data } = rotationForm.safeParse(request.form)
      if (!data) throw new PortalError('invalid_form')
      const isValid = ({ expiresAtMs = Infinity }) => expiresAtMs > clock.now()
      if (secrets.filter(isValid).length >= maxSecrets) throw new PortalError('too_many_secrets')
      const [, label, seconds] = overlaps.find(([value]) => value === data.overlap) ?? []
      const overlapMs = (seconds ?? Infinity) * 1000
      try {
        const clientSecret = await registryFor(actorOf(request)).rotateSecret(
          client,
          overlapMs,
          data.submission_id,
        )
        const othersExpire = secrets.some(isValid) ? label : undefined
        return { page: secretPage(request, { application, project, clientSecret, othersExpire }) }
      } catch (error) {
        if (!(error instanceof AlreadyExists)) throw error
        return { redirectTo: request.paths.application(project.id, application.id) }
      }
    },
    async revokeSecret(request) {
      const client = await ownClient(storage, request)
      await registryFor(actorOf(request)).revokeSecret(client, request.params['secretId'] ?? '')
      const { application, project } = client
      const redirectTo = request.paths.application(project.id, application.id)
      return { redirectTo, notice: 'secret_revoked' }
    },
  } satisfies Record<string, DeveloperHandler>
}
