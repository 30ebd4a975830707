import { z } from 'zod'
import type { accountRoutes } from './account-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { parseForm } from '../layout/parse-form.ts'
import { tooManyAttempts } from '../session/too-many-attempts.ts'
import { accountPage } from './account-page.ts'
import { actorOf } from '../session/actor.ts'
import type { HandlersOf, PortalResponse } from '../portal-request.ts'
import { createPasswordChecker } from '../session/password-checker.ts'
import { hashPassword, newPassword } from '../session/password.ts'
import { createSessionStarter } from '../session/session.ts'

/** The developer's own account. */
export function accountHandlers(service: ServiceContext): HandlersOf<typeof accountRoutes> {
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)

  return {
    showAccount: async (request) => ({ page: accountPage(request, emptyForm) }),
    async changePassword(request) {
      const { developer } = request
      const schema = z.object({ password: z.string().max(1_000), new_password: newPassword(developer.name) })
      const parsed = parseForm(schema, request.form)
      const show = (state: FormState): PortalResponse => ({ page: accountPage(request, state), status: 422 })
      if (!parsed.data) return show(parsed.state)
      const checked = await checkPassword(developer.name, parsed.data.password, request)
      if (checked.retryAfterSeconds !== undefined) return tooManyAttempts(checked.retryAfterSeconds, {}, show)
      if (!checked.developer) return show({ values: {}, errors: { password: 'The password is incorrect.' } })
      const passwordHash = await hashPassword(parsed.data.new_password)
      await service.act(actorOf(request), async ({ developers, sessions }, audit) => {
        await developers.changePassword(developer.id, passwordHash)
        await sessions.closeAll(developer.id)
        audit('password_changed')
      })
      const started = await startSession(developer, request, request.paths.account)
      return { ...started, notice: 'password_changed' }
    },
  }
}
