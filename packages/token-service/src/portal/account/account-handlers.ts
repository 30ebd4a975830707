import type { SafeHtml } from '@remix-run/html-template'
import { z } from 'zod'
import type { accountRoutes } from './account-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { parseForm } from '../layout/parse-form.ts'
import { tooManyAttempts, createPasswordChecker } from '../session/password-checker.ts'
import { actorOf } from '../session/session.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf, PortalResponse, DeveloperRequest } from '../portal-request.ts'
import { hashPassword, newPassword } from '../session/password.ts'
import { createSessionStarter } from '../session/session.ts'
import { hasPassword } from '../session/link-pages.ts'
import { linkSection } from '../session/openid-pages.ts'
import { accountPage, type AccountContent } from './account-page.ts'

/** The developer's own account. */
export function accountHandlers(service: ServiceContext): HandlersOf<typeof accountRoutes> {
  const { storage, act, clock } = service
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)
  const withPassword = ({ developer }: DeveloperRequest) =>
    hasPassword(developer, service.openidProvider?.localPasswords ?? true)

  async function linkSectionOf(request: DeveloperRequest): Promise<SafeHtml | string> {
    const { openidProvider: provider } = service
    if (!provider) return ''
    const identities = await storage.developers.identities(request.developer.id)
    const isLinked = identities.some(({ issuer }) => issuer === provider.issuer)
    return linkSection(request, provider, { isLinked, withPassword: withPassword(request) })
  }

  async function contentOf(request: DeveloperRequest): Promise<AccountContent> {
    const nowMs = clock.now()
    const [section, sessions] = await Promise.all([
      linkSectionOf(request),
      storage.sessions.list(request.developer.id, nowMs),
    ])
    return { state: emptyForm, withPassword: withPassword(request), linkSection: section, sessions, nowMs }
  }

  return {
    showAccount: async (request) => ({ page: accountPage(request, await contentOf(request)) }),
    async endSessions(request) {
      const { developer, sessionHash, form, paths } = request
      const all = await storage.sessions.list(developer.id, clock.now())
      const others = all.map(({ hash }) => hash).filter((hash) => hash !== sessionHash)
      const ended = others.filter((hash) => form['session'] === 'others' || form['session'] === hash)
      if (ended.length === 0) throw new PortalError('not_found')
      await act(actorOf(request), async ({ sessions }, audit) => {
        for (const hash of ended) {
          await sessions.close(hash)
          audit('session_ended')
        }
      })
      return { redirectTo: paths.account, notice: ended.length === 1 ? 'session_ended' : 'sessions_ended' }
    },
    async changePassword(request) {
      const { developer } = request
      if (!withPassword(request)) throw new PortalError('not_found')
      const schema = z.object({ password: z.string().max(1_000), new_password: newPassword(developer.name) })
      const parsed = parseForm(schema, request.form)
      const content = await contentOf(request)
      const show = (state: FormState): PortalResponse => ({
        page: accountPage(request, { ...content, state }),
        status: 422,
      })
      if (!parsed.data) return show(parsed.state)
      const checked = await checkPassword(developer.name, parsed.data.password, request)
      if (checked.retryAfterSeconds !== undefined) return tooManyAttempts(checked.retryAfterSeconds, {}, show)
      if (!checked.developer) return show({ values: {}, errors: { password: 'The password is incorrect.' } })
      const passwordHash = await hashPassword(parsed.data.new_password)
      await act(actorOf(request), async ({ developers, sessions }, audit) => {
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
