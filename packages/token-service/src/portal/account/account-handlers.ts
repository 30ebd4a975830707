import type { SafeHtml } from '@remix-run/html-template'
import { z } from 'zod'
import type { accountRoutes } from './account-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { optionalLine, parseForm } from '../layout/parse-form.ts'
import { tooManyAttempts, createPasswordChecker } from '../session/password-checker.ts'
import { actorOf } from '../session/actor.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf, PortalResponse, DeveloperRequest } from '../portal-request.ts'
import { hashPassword, newPassword } from '../session/password.ts'
import { createLogInAgain, createSessionStarter } from '../session/session.ts'
import { hasPassword } from '../session/link-pages.ts'
import { linkSection } from '../session/openid-pages.ts'
import { createPasskeys, requireRelyingParty } from '../session/passkeys.ts'
import { createRecoveryCodes } from '../session/recovery-codes.ts'
import { accountPage, recoveryCodesPage, type AccountContent } from './account-page.ts'

const maxPasskeys = 20

/** The developer's own account. */
export function accountHandlers(service: ServiceContext): HandlersOf<typeof accountRoutes> {
  const { storage, act, keyring, clock } = service
  const startSession = createSessionStarter(service)
  const logInAgain = createLogInAgain(service)
  const checkPassword = createPasswordChecker(service)
  const passkeys = createPasskeys(service)
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
    const { id } = request.developer
    const [list, codes] = await Promise.all([storage.passkeys.list(id), storage.passkeys.recoveryCodes(id)])
    return {
      state: emptyForm,
      withPassword: withPassword(request),
      passkeys: list,
      recoveryCodes: codes.length,
      nowMs: clock.now(),
      linkSection: await linkSectionOf(request),
    }
  }

  /** Only for those with a local account who logged in lately. */
  const afterLogIn =
    (handler: (request: DeveloperRequest) => Promise<PortalResponse>) =>
    async (request: DeveloperRequest): Promise<PortalResponse> => {
      if (!withPassword(request)) throw new PortalError('not_found')
      return (await logInAgain(request)) ?? handler(request)
    }

  return {
    showAccount: async (request) => ({ page: accountPage(request, await contentOf(request)) }),
    async changePassword(request) {
      const { developer } = request
      if (!withPassword(request) || developer.passkeyOnly) throw new PortalError('not_found')
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
    beginPasskey: afterLogIn(async (request) => passkeys.beginAdding(request, requireRelyingParty(request))),
    addPasskey: afterLogIn(async (request) => {
      const parsed = parseForm(z.object({ name: optionalLine(60) }), request.form)
      const name = parsed.data?.name || 'Passkey'
      const passkey = await passkeys.finishAdding(request, requireRelyingParty(request), name)
      if (!passkey) throw new PortalError('invalid_passkey')
      const { developerId } = passkey
      const codes = createRecoveryCodes(keyring, developerId)
      const isFirst = await act(actorOf(request), async (stored, audit) => {
        if ((await stored.passkeys.list(developerId)).length >= maxPasskeys) {
          throw new PortalError('too_many_passkeys')
        }
        if (!(await stored.passkeys.add(passkey))) throw new PortalError('invalid_passkey')
        audit('passkey_added', { detail: name })
        if ((await stored.passkeys.recoveryCodes(developerId)).length > 0) return false
        await stored.passkeys.setRecoveryCodes(developerId, codes.stored)
        audit('recovery_codes_created')
        return true
      })
      if (isFirst) return { page: recoveryCodesPage(request, codes.texts), pendingLogIn: null }
      return { redirectTo: request.paths.account, notice: 'passkey_added', pendingLogIn: null }
    }),
    removePasskey: afterLogIn(async (request) => {
      const { id: developerId, name } = request.developer
      await act(actorOf(request), async (stored, audit) => {
        const list = await stored.passkeys.list(developerId)
        const passkey = list.find(({ id }) => id === request.form['passkey'])
        if (!passkey) throw new PortalError('not_found')
        const isLast = list.length === 1
        if (isLast && (await stored.developers.find(name))?.passkeyOnly) throw new PortalError('last_passkey')
        // Recovery codes stand for passkeys: without any, they are removed too.
        if (isLast) await stored.passkeys.removeAll(developerId)
        else await stored.passkeys.remove(developerId, passkey.id)
        audit('passkey_removed', { detail: passkey.name })
      })
      return { redirectTo: request.paths.account, notice: 'passkey_removed' }
    }),
    createRecoveryCodes: afterLogIn(async (request) => {
      const { id } = request.developer
      const codes = createRecoveryCodes(keyring, id)
      await act(actorOf(request), async (stored, audit) => {
        if ((await stored.passkeys.list(id)).length === 0) throw new PortalError('not_found')
        await stored.passkeys.setRecoveryCodes(id, codes.stored)
        audit('recovery_codes_created')
      })
      return { page: recoveryCodesPage(request, codes.texts) }
    }),
    switchPassword: afterLogIn(async (request) => {
      const { id } = request.developer
      // As the page showed it: a form that is sent twice changes it once.
      const isOff = request.form['password_log_in'] === 'off'
      const event = isOff ? 'password_switched_off' : 'password_switched_on'
      await act(actorOf(request), async (stored, audit) => {
        if (isOff && (await stored.passkeys.list(id)).length === 0) throw new PortalError('last_passkey')
        await stored.developers.setPasskeyOnly(id, isOff)
        audit(event)
      })
      return { redirectTo: request.paths.account, notice: event }
    }),
  }
}
