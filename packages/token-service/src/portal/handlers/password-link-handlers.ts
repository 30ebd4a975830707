import { z } from 'zod'
import { digest } from '../../platform/digest.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { emptyForm } from '../components/form.ts'
import { parseForm } from '../forms/parse-form.ts'
import { newPasswordPage } from '../pages/new-password-page.ts'
import { PortalError } from '../request/portal-error.ts'
import type { Handler } from '../request/portal-request.ts'
import { hashPassword, newPassword } from '../session/password.ts'
import { createSessionStarter } from '../session/session.ts'

const passwordForm = z.object({ new_password: newPassword })

/** A link with which a developer who forgot the password sets a new one. */
export function passwordLinkHandlers(service: ServiceContext) {
  const { storage, clock, activity } = service
  const startSession = createSessionStarter(service)

  async function findLink(token = '') {
    const hash = digest(token)
    const developer = await storage.developers.findPasswordLink(hash, clock.now())
    if (!developer) throw new PortalError('invalid_link')
    return { hash, developer }
  }

  return {
    async showNewPassword(request) {
      const { developer } = await findLink(request.params['token'])
      return { page: newPasswordPage(request, emptyForm, developer) }
    },
    async setPassword(request) {
      const { hash, developer } = await findLink(request.params['token'])
      const parsed = parseForm(passwordForm, request.form)
      if (!parsed.data) return { page: newPasswordPage(request, parsed.state, developer), status: 422 }
      const passwordHash = await hashPassword(parsed.data.new_password)
      if (!(await storage.developers.usePasswordLink(hash, passwordHash, clock.now()))) {
        throw new PortalError('invalid_link')
      }
      activity.audit({ event: 'password_set', actor: developer.name, address: request.address })
      return startSession(developer, request)
    },
  } satisfies Record<string, Handler>
}
