import { html } from '@remix-run/html-template'
import { z } from 'zod'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { csrfInput, emptyForm, field, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { parseForm } from '../layout/parse-form.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf, PortalRequest, PortalResponse } from '../portal-request.ts'
import { actorOf } from './actor.ts'
import { logInForm } from './log-in-handlers.ts'
import { logInPage, nextPath } from './log-in-page.ts'
import { createPasskeys, requireRelyingParty, type RelyingParty } from './passkeys.ts'
import { createAttemptChecker, tooManyAttempts } from './password-checker.ts'
import { findRecoveryCode } from './recovery-codes.ts'
import type { passkeyRoutes } from './session-routes.ts'
import { createSessionStarter } from './session.ts'

const recoveryForm = z.object({ name: logInForm.shape.name, code: z.string().max(100) })

/** Logging in with a passkey, or with a recovery code. */
export function passkeyHandlers(service: ServiceContext): HandlersOf<typeof passkeyRoutes> {
  const { storage, act, keyring, activity, openidProvider: provider } = service
  const passkeys = createPasskeys(service)
  const startSession = createSessionStarter(service)
  const checkAttempt = createAttemptChecker(service)

  function requireLocalAccounts(): void {
    if (provider?.localPasswords === false) throw new PortalError('not_found')
  }

  function relyingParty(request: PortalRequest): RelyingParty {
    requireLocalAccounts()
    return requireRelyingParty(request)
  }

  return {
    beginPasskeyLogIn: async (request) => passkeys.beginLogIn(relyingParty(request)),
    async finishPasskeyLogIn(request) {
      const next = nextPath(request, request.form)
      const { isValid, developer } = await passkeys.finishLogIn(request, relyingParty(request))
      if (isValid && developer) {
        const started = await startSession(developer, request, { method: 'passkey', next })
        return { ...started, pendingLogIn: null }
      }
      activity.count({ event: 'log_in_failed', address: request.address, detail: developer?.name })
      const problem = 'The passkey was not accepted. Try again, or log in another way.'
      const content = { state: emptyForm, hasDevelopers: true, next, provider, problem }
      return { page: logInPage(request, content), status: 422, pendingLogIn: null }
    },
    async showRecovery(request) {
      requireLocalAccounts()
      if (request.developer) return { redirectTo: request.paths.account }
      return { page: recoveryPage(request, emptyForm) }
    },
    async recover(request) {
      requireLocalAccounts()
      const parsed = parseForm(recoveryForm, request.form)
      const show = (state: FormState): PortalResponse => ({ page: recoveryPage(request, state), status: 422 })
      if (!parsed.data) return show(parsed.state)
      const { name, code } = parsed.data
      const values = { name }
      let hash: string | undefined
      const { developer, retryAfterSeconds } = await checkAttempt(name, request, async (found) => {
        const id = found?.id ?? ''
        hash = findRecoveryCode(keyring, id, await storage.passkeys.recoveryCodes(id), code)
        return hash !== undefined
      })
      if (retryAfterSeconds !== undefined) return tooManyAttempts(retryAfterSeconds, values, show, 'code')
      const isUsed =
        developer &&
        hash !== undefined &&
        (await act(actorOf({ developer, address: request.address }), async (stored, audit) => {
          // Another request may have been faster.
          const isFirst = await stored.passkeys.useRecoveryCode(developer.id, hash!)
          if (isFirst) audit('recovery_code_used')
          return isFirst
        }))
      if (!isUsed) return show({ values, errors: { code: 'The name or recovery code is incorrect.' } })
      const started = await startSession(developer, request, {
        method: 'recovery code',
        next: request.paths.account,
      })
      return { ...started, notice: 'recovery_code_used' }
    },
  }
}

function recoveryPage(request: PortalRequest, state: FormState): PageContent {
  const { paths, csrfToken } = request
  const body = html`<form method="post" action="${paths.recovery}" class="card">
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Name', autocomplete: 'username' }, state)}
      ${field({ name: 'code', label: 'Recovery code', hint: 'Each code works once.', autocomplete: 'one-time-code' }, state)}
      <button>Log in</button>
    </form>
    <p class="muted">
      <a href="${paths.logIn}">Log in another way</a>, or ask an administrator to remove your passkeys.
    </p>`
  return { title: 'Log in with a recovery code', body, isCard: true }
}
