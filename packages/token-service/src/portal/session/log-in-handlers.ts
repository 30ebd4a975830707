import { z } from 'zod'
import type { RawParameters } from '../../oauth/parameters.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { parseForm } from '../layout/parse-form.ts'
import { actorOf } from './actor.ts'
import { tooManyAttempts, createPasswordChecker } from './password-checker.ts'
import { logInPage } from './log-in-page.ts'
import type { HandlersOf, PortalRequest, PortalResponse } from '../portal-request.ts'
import type { logInRoutes } from './session-routes.ts'
import { createSessionStarter } from './session.ts'

const logInForm = z.object({
  name: z.string().regex(/^\P{Cc}{0,200}$/u, 'Enter a name without control characters.'),
  password: z.string().max(1_000),
})

/** Where to continue after the login: only in the portal. */
function nextPath({ paths }: PortalRequest, { next }: RawParameters): string {
  const origin = 'http://portal'
  if (typeof next !== 'string' || !URL.canParse(next, origin)) return paths.root
  const { href, pathname } = new URL(next, origin)
  const isPath = href === `${origin}${next}` && !pathname.includes('//')
  return isPath && pathname.startsWith(`${paths.root}/`) ? next : paths.root
}

/** Logging in and out. */
export function logInHandlers(service: ServiceContext): HandlersOf<typeof logInRoutes> {
  const { storage, act } = service
  const { developers } = storage
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)

  return {
    async showLogIn(request) {
      const next = nextPath(request, request.query)
      if (request.developer) return { redirectTo: next }
      const hasDevelopers = (await developers.list()).length > 0
      return { page: logInPage(request, { state: emptyForm, hasDevelopers, next }) }
    },
    async logIn(request) {
      const parsed = parseForm(logInForm, request.form)
      const next = nextPath(request, request.form)
      const show = (state: FormState): PortalResponse => ({
        page: logInPage(request, { state, hasDevelopers: true, next }),
        status: 422,
      })
      if (!parsed.data) return show(parsed.state)
      const { name: typedName, password } = parsed.data
      const checked = await checkPassword(typedName, password, request)
      if (checked.developer) return startSession(checked.developer, request, next)
      const values = { name: typedName }
      if (checked.retryAfterSeconds !== undefined)
        return tooManyAttempts(checked.retryAfterSeconds, values, show)
      return show({ values, errors: { password: 'The name or password is incorrect.' } })
    },
    async logOut({ sessionHash, developer, address, paths }) {
      if (sessionHash !== undefined && developer) {
        await act(actorOf({ developer, address }), async ({ sessions }, audit) => {
          await sessions.close(sessionHash)
          audit('logged_out')
        })
      }
      return { redirectTo: paths.logIn, sessionId: null, notice: 'logged_out' }
    },
  }
}
