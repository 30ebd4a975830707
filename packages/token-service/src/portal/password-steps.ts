import { z } from 'zod'
import { digest } from '../digest.ts'
import type { ServiceContext } from '../service-context.ts'
import type { Step } from './exchange.ts'
import { newPasswordPage } from './pages/new-password-page.ts'
import { emptyForm } from './page/form.ts'
import { parseForm } from './page/parse-form.ts'
import { hashPassword, newPassword } from './password.ts'
import { PortalRefusal } from './portal-refusal.ts'
import { createSessionStart } from './session-start.ts'

const passwordForm = z.object({ new_password: newPassword })

/** For a developer who forgot the password, and was given a link. */
export function passwordSteps(context: ServiceContext) {
  const { storage, clock, activity } = context
  const begin = createSessionStart(context)

  async function linked(token = '') {
    const hash = digest(token)
    const developer = await storage.developers.findPasswordLink(hash, clock.now())
    if (!developer) throw new PortalRefusal('link_void')
    return { hash, developer }
  }

  return {
    async showNewPassword(exchange) {
      const { developer } = await linked(exchange.params['token'])
      return { page: newPasswordPage(exchange, emptyForm, developer) }
    },
    async setPassword(exchange) {
      const { hash, developer } = await linked(exchange.params['token'])
      const parsed = parseForm(passwordForm, exchange.form)
      if (!parsed.data) return { page: newPasswordPage(exchange, parsed.state, developer), status: 422 }
      const passwordHash = await hashPassword(parsed.data.new_password)
      if (!(await storage.developers.usePasswordLink(hash, passwordHash, clock.now()))) {
        throw new PortalRefusal('link_void')
      }
      activity.audit({ event: 'password_set', address: exchange.address, detail: developer.id })
      return begin(developer.id, exchange)
    },
  } satisfies Record<string, Step>
}
