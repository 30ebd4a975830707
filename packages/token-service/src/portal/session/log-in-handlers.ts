import { z } from 'zod'
import type { ServiceContext } from '../../service/context.ts'
import { portalRoot } from '../../http/base-url.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { parseForm } from '../layout/parse-form.ts'
import { actorOf } from './session.ts'
import { tooManyAttempts, createPasswordChecker } from './password-checker.ts'
import { logInPage, logOutPage, nextPath } from './log-in-page.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf, PortalResponse } from '../portal-request.ts'
import type { OpenidProvider } from './openid-provider.ts'
import { sessionPaths, type logInRoutes } from './session-routes.ts'
import { createSessionStarter } from './session.ts'

const logInForm = z.object({
  name: z.string().regex(/^\P{Cc}{0,200}$/u, 'Enter a name without control characters.'),
  password: z.string().max(1_000),
})

/** Logging in and out. */
export function logInHandlers(
  service: ServiceContext,
  openid: OpenidProvider | undefined,
): HandlersOf<typeof logInRoutes> {
  const { storage, act, keyring } = service
  const provider = openid?.settings
  const { developers } = storage
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)

  async function idTokenOf(sessionHash: string): Promise<string | undefined> {
    const encrypted = openid && (await storage.sessions.findIdToken(sessionHash))
    return encrypted === undefined ? undefined : keyring.decrypt(encrypted)
  }

  return {
    async showLogIn(request) {
      const next = nextPath(request, request.query)
      if (request.developer) return { redirectTo: next }
      // The members of a group need no link.
      const hasDevelopers =
        (provider?.administratorGroups.length ?? 0) > 0 || (await developers.list()).length > 0
      return { page: logInPage(request, { state: emptyForm, hasDevelopers, next, provider }) }
    },
    async logIn(request) {
      if (provider?.localPasswords === false) throw new PortalError('not_found')
      const parsed = parseForm(logInForm, request.form)
      const next = nextPath(request, request.form)
      const show = (state: FormState): PortalResponse => ({
        page: logInPage(request, { state, hasDevelopers: true, next, provider }),
        status: 422,
      })
      if (!parsed.data) return show(parsed.state)
      const { name: typedName, password } = parsed.data
      const checked = await checkPassword(typedName, password, request)
      if (checked.developer) return startSession(checked.developer, request, { method: 'password', next })
      const values = { name: typedName }
      if (checked.retryAfterSeconds !== undefined)
        return tooManyAttempts(checked.retryAfterSeconds, values, show)
      return show({ values, errors: { password: 'The name or password is incorrect.' } })
    },
    async logOut(request) {
      const { sessionHash, developer, address, paths, baseUrl } = request
      const ended = { sessionId: null, notice: 'logged_out' } as const
      if (sessionHash !== undefined && developer) {
        const idToken = await idTokenOf(sessionHash)
        await act(actorOf({ developer, address }), async ({ sessions }, audit) => {
          await sessions.close(sessionHash)
          audit('logged_out')
        })
        if (openid && idToken !== undefined) {
          const url = await openid.logOutUrl(idToken, `${baseUrl}${portalRoot}${sessionPaths.logIn}`)
          if (url !== undefined) return { page: logOutPage(request, openid.settings.name, url), ...ended }
        }
      }
      return { redirectTo: paths.logIn, ...ended }
    },
  }
}
