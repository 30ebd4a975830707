import { z } from 'zod'
import { html, type SafeHtml } from '@remix-run/html-template'
import type { accountRoutes } from './account-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm, type FormState, csrfInput, field } from '../layout/form.ts'
import { parseForm } from '../layout/parse-form.ts'
import { tooManyAttempts, createPasswordChecker } from '../session/password-checker.ts'
import { actorOf } from '../session/actor.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf, PortalResponse, DeveloperRequest } from '../portal-request.ts'
import { hashPassword, newPassword } from '../session/password.ts'
import { createSessionStarter } from '../session/session.ts'
import { hasPassword, newPasswordField } from '../session/link-pages.ts'
import { linkSection } from '../session/openid-pages.ts'
import { page } from '../layout/page.ts'

/** The developer's own account. */
export function accountHandlers(service: ServiceContext): HandlersOf<typeof accountRoutes> {
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)
  const withPassword = ({ developer }: DeveloperRequest) =>
    hasPassword(developer, service.openidProvider?.localPasswords ?? true)

  async function linkSectionOf(request: DeveloperRequest): Promise<SafeHtml | string> {
    const { openidProvider: provider, storage } = service
    if (!provider) return ''
    const identities = await storage.developers.identities(request.developer.id)
    const isLinked = identities.some(({ issuer }) => issuer === provider.issuer)
    return linkSection(request, provider, { isLinked, withPassword: withPassword(request) })
  }

  return {
    showAccount: async (request) => ({
      page: accountPage(request, emptyForm, withPassword(request), await linkSectionOf(request)),
    }),
    async changePassword(request) {
      const { developer } = request
      if (!withPassword(request)) throw new PortalError('not_found')
      const schema = z.object({ password: z.string().max(1_000), new_password: newPassword(developer.name) })
      const parsed = parseForm(schema, request.form)
      const section = await linkSectionOf(request)
      const show = (state: FormState): PortalResponse => ({
        page: accountPage(request, state, true, section),
        status: 422,
      })
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
      const started = await startSession(developer, request, {
        method: 'password',
        next: request.paths.account,
      })
      return { ...started, notice: 'password_changed' }
    },
  }
}

function accountPage(
  request: DeveloperRequest,
  state: FormState,
  withPassword: boolean,
  section: SafeHtml | string,
): SafeHtml {
  const { paths, csrfToken, developer } = request
  const body = html`<p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', an administrator' : ''
      }.
    </p>
    ${
      withPassword
        ? html`<form method="post" action="${paths.account}" class="card form">
            <h2>Change password</h2>
            <p class="hint">You will be logged out on all other devices.</p>
            ${csrfInput(csrfToken)}
            ${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' }, state)}
            ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
            <button>Change password</button>
          </form>`
        : html`<p>You log in without a password here.</p>`
    }
    ${section}`
  return page(request, { title: 'Your account', body })
}
