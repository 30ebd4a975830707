import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { digest } from '../../platform/digest.ts'
import type { RawParameters } from '../../protocol/raw-parameters.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { emptyForm, type FormState } from '../components/form.ts'
import { line, parseForm } from '../forms/parse-form.ts'
import { tooManyAttempts } from '../forms/too-many-attempts.ts'
import { joinPage } from '../pages/join-page.ts'
import { logInPage } from '../pages/log-in-page.ts'
import { PortalError } from '../request/portal-error.ts'
import type { Handler, PortalRequest, PortalResponse } from '../request/portal-request.ts'
import { createPasswordChecker } from '../session/password-checker.ts'
import { hashPassword, newPassword } from '../session/password.ts'
import { createSessionStarter } from '../session/session.ts'

const name = line(60)
  .regex(
    /^[\p{L}\p{N}][\p{L}\p{N}._@+ -]*$/u,
    'Start with a letter or digit, and use only letters, digits, spaces and . _ @ + -',
  )
  .transform((text) => text.normalize('NFKC').toLowerCase())
const logInForm = z.object({
  name: z.string().regex(/^\P{Cc}{0,200}$/u, 'Enter a name without control characters.'),
  password: z.string().max(1_000),
})
const joinForm = z.object({ name, password: newPassword })

/** Where to continue after the login: only in the portal. */
function nextPath({ paths }: PortalRequest, { next }: RawParameters): string {
  const origin = 'http://portal'
  if (typeof next !== 'string' || !URL.canParse(next, origin)) return paths.root
  const { href, pathname } = new URL(next, origin)
  const isPath = href === `${origin}${next}` && !pathname.includes('//')
  return isPath && pathname.startsWith(`${paths.root}/`) ? next : paths.root
}

/** Joining, logging in and logging out. */
export function logInHandlers(service: ServiceContext) {
  const { storage, clock, activity } = service
  const { developers, sessions } = storage
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)

  async function findInvitation(token = '') {
    const invitation = await developers.findInvitation(digest(token), clock.now())
    if (!invitation) throw new PortalError('invalid_link')
    return invitation
  }

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
      const checked = await checkPassword(typedName, password, request.address)
      if (checked.developer) return startSession(checked.developer, request, next)
      const values = { name: typedName }
      if (checked.retryAfterSeconds !== undefined)
        return tooManyAttempts(checked.retryAfterSeconds, values, show)
      return show({ values, errors: { password: 'The name or password is incorrect.' } })
    },
    async logOut({ sessionHash, developer, address, paths }) {
      if (sessionHash !== undefined) await sessions.close(sessionHash)
      if (developer) activity.audit({ event: 'logged_out', actor: developer.name, address })
      return { redirectTo: paths.logIn, sessionId: null, notice: 'logged_out' }
    },
    showJoin: async (request) => ({
      page: joinPage(request, emptyForm, await findInvitation(request.params['token'])),
    }),
    async join(request) {
      const invitation = await findInvitation(request.params['token'])
      const parsed = parseForm(joinForm, request.form)
      if (!parsed.data) return { page: joinPage(request, parsed.state, invitation), status: 422 }
      const passwordHash = await hashPassword(parsed.data.password)
      const { administrator, hash } = invitation
      const developer = { id: randomUUID(), name: parsed.data.name, passwordHash, administrator }
      const nowMs = clock.now()
      const outcome = await developers.join({ ...developer, createdAtMs: nowMs }, hash, nowMs)
      if (outcome === 'void') throw new PortalError('invalid_link')
      if (outcome === 'joined') {
        activity.audit({ event: 'developer_joined', actor: developer.name, address: request.address })
        return startSession(developer, request)
      }
      const state = { values: { name: developer.name }, errors: { name: 'This name is taken.' } }
      return { page: joinPage(request, state, invitation), status: 422 }
    },
  } satisfies Record<string, Handler>
}
