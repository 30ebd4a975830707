import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { createFailureGuard } from '../authentication/failure-guard.ts'
import { digest } from '../digest.ts'
import { ProtocolError } from '../http/protocol-error.ts'
import type { ServiceContext } from '../service-context.ts'
import type { Answer, DeveloperStep, Exchange, Step } from './exchange.ts'
import { accountPage } from './pages/account-page.ts'
import { joinPage } from './pages/join-page.ts'
import { logInPage } from './pages/log-in-page.ts'
import { emptyForm, type FormState } from './page/form.ts'
import { line, parseForm } from './page/parse-form.ts'
import { hashPassword, isPassword, newPassword } from './password.ts'
import { PortalRefusal } from './portal-refusal.ts'
import { createSessionStart } from './session-start.ts'

const name = line(60)
  .regex(/^[\p{L}\p{N}][\p{L}\p{N}._@+ -]*$/u, 'Letters, digits, blanks and . _ @ + - only, please.')
  .transform((text) => text.normalize('NFKC').toLowerCase())
const logInForm = z.object({
  name: z.string().regex(/^\P{Cc}{0,200}$/u, 'This is no name.'),
  password: z.string().max(1_000),
})
const joinForm = z.object({ name, password: newPassword })
const passwordForm = z.object({ password: z.string().max(1_000), new_password: newPassword })

const failureLimit = { attempts: 10, windowSeconds: 300 }

/** Getting in, getting out, and what a developer's own account is about. */
export function accountSteps(context: ServiceContext) {
  const { storage, clock, activity } = context
  const { developers, sessions } = storage
  const begin = createSessionStart(context)
  const guard = createFailureGuard(storage.failures, clock, failureLimit)

  /** Whether the password is right; `undefined` after too many wrong ones from this address. */
  async function checked(typedName: string, password: string, address: string) {
    const account = typedName.normalize('NFKC').trim().toLowerCase()
    // A digest: people do type their password for their name.
    const key = `portal ${digest(account)}`
    await guard.check(address, key)
    const developer = await developers.find(account)
    if (await isPassword(password, developer?.passwordHash)) {
      // Again: who tries many at once must not learn more than who tries them in turn.
      await guard.check(address, key)
      return developer
    }
    await guard.failed(address, key)
    activity.audit({ event: 'log_in_failed', address, detail: developer?.id })
    return undefined
  }

  const throttled = (exchange: Exchange, error: unknown, shown: (state: FormState) => Answer): Answer => {
    if (!(error instanceof ProtocolError) || error.reason !== 'too_many_failures') throw error
    const { retryAfterSeconds = 60 } = error.details
    const mistake = `Too many wrong passwords. Try again in ${Math.ceil(retryAfterSeconds / 60)} minutes.`
    const values = { name: String(exchange.form['name'] ?? '') }
    return { ...shown({ values, mistakes: { password: mistake } }), status: 429, retryAfterSeconds }
  }

  const forAll = {
    home: async ({ developer, paths }) => ({ redirectTo: developer ? paths.projects : paths.logIn }),
    showLogIn: async (exchange) =>
      exchange.developer
        ? { redirectTo: exchange.paths.projects }
        : { page: logInPage(exchange, emptyForm, (await developers.list()).length > 0) },
    async logIn(exchange) {
      const parsed = parseForm(logInForm, exchange.form)
      const shown = (state: FormState): Answer => ({ page: logInPage(exchange, state, true), status: 422 })
      if (!parsed.data) return shown(parsed.state)
      const { name: typedName, password } = parsed.data
      try {
        const developer = await checked(typedName, password, exchange.address)
        if (developer) return await begin(developer.id, exchange)
      } catch (error) {
        return throttled(exchange, error, shown)
      }
      return shown({ values: { name: typedName }, mistakes: { password: 'Name or password is wrong.' } })
    },
    async logOut({ visit, developer, paths }) {
      await sessions.close(visit.hash)
      if (developer) activity.audit({ event: 'logged_out', detail: developer.id })
      return { redirectTo: paths.logIn, ended: true }
    },
    async showJoin(exchange) {
      const invitation = await developers.findInvitation(digest(exchange.params['token'] ?? ''), clock.now())
      if (!invitation) throw new PortalRefusal('link_void')
      return { page: joinPage(exchange, emptyForm, invitation) }
    },
    async join(exchange) {
      const hash = digest(exchange.params['token'] ?? '')
      const invitation = await developers.findInvitation(hash, clock.now())
      if (!invitation) throw new PortalRefusal('link_void')
      const parsed = parseForm(joinForm, exchange.form)
      if (!parsed.data) return { page: joinPage(exchange, parsed.state, invitation), status: 422 }
      const passwordHash = await hashPassword(parsed.data.password)
      const { administrator } = invitation
      const developer = { id: randomUUID(), name: parsed.data.name, passwordHash, administrator }
      const nowMs = clock.now()
      const outcome = await developers.join({ ...developer, createdAtMs: nowMs }, hash, nowMs)
      if (outcome === 'void') throw new PortalRefusal('link_void')
      if (outcome === 'joined') {
        activity.audit({ event: 'developer_joined', address: exchange.address, detail: developer.id })
        return begin(developer.id, exchange)
      }
      const state = { values: { name: developer.name }, mistakes: { name: 'This name is taken.' } }
      return { page: joinPage(exchange, state, invitation), status: 422 }
    },
  } satisfies Record<string, Step>

  const forDevelopers = {
    showAccount: async (exchange) => ({ page: accountPage(exchange, emptyForm) }),
    async changePassword(exchange) {
      const { developer, address } = exchange
      const parsed = parseForm(passwordForm, exchange.form)
      const shown = (state: FormState): Answer => ({ page: accountPage(exchange, state), status: 422 })
      if (!parsed.data) return shown(parsed.state)
      try {
        const known = await checked(developer.name, parsed.data.password, address)
        if (!known) return shown({ values: {}, mistakes: { password: 'This is not your password.' } })
      } catch (error) {
        return throttled(exchange, error, shown)
      }
      await developers.changePassword(developer.id, await hashPassword(parsed.data.new_password))
      await sessions.closeAll(developer.id)
      activity.audit({ event: 'password_changed', address, detail: developer.id })
      return begin(developer.id, exchange)
    },
  } satisfies Record<string, DeveloperStep>

  return { forAll, forDevelopers }
}
