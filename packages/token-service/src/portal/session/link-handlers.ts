import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { digest } from '../../runtime/digest.ts'
import type { ServiceContext } from '../../service/context.ts'
import { changesOf } from '../../storage/act.ts'
import { NameTaken } from '../../features/people/storage.ts'
import { emptyForm } from '../layout/form.ts'
import { parseForm } from '../layout/parse-form.ts'
import { actorOf } from './session.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { developerName, rejectLookalike } from './developer-name.ts'
import { hasPassword, joinPage, newPasswordPage } from './link-pages.ts'
import { PortalError } from '../portal-error.ts'
import type { HandlersOf } from '../portal-request.ts'
import { hashPassword, newPassword } from './password.ts'
import type { linkRoutes } from './session-routes.ts'
import { createSessionStarter } from './session.ts'

function joinForm({ name }: RawParameters, withPassword: boolean) {
  return z.object({
    name: developerName,
    password: withPassword ? newPassword(developerName.safeParse(name).data ?? '') : z.literal(''),
  })
}

/** The links with which people join, set a new password after they forgot theirs, or log in without any. */
export function linkHandlers(service: ServiceContext): HandlersOf<typeof linkRoutes> {
  const { storage, act, clock, openidProvider } = service
  const localPasswords = openidProvider?.localPasswords ?? true
  const startSession = createSessionStarter(service)

  async function findInvitation(token = '') {
    const invitation = await storage.developers.findInvitation(digest(token), clock.now())
    if (!invitation) throw new PortalError('invalid_link')
    return invitation
  }

  async function findLink(token = '') {
    const hash = digest(token)
    const developer = await storage.developers.findPasswordLink(hash, clock.now())
    if (!developer) throw new PortalError('invalid_link')
    return { hash, developer }
  }

  return {
    showJoin: async (request) => ({
      page: joinPage(request, emptyForm, await findInvitation(request.params['token']), localPasswords),
    }),
    async join(request) {
      const invitation = await findInvitation(request.params['token'])
      const parsed = parseForm(joinForm(request.form, localPasswords), request.form)
      if (!parsed.data)
        return { page: joinPage(request, parsed.state, invitation, localPasswords), status: 422 }
      const { password } = parsed.data
      const passwordHash = password === '' ? '' : await hashPassword(password)
      const { administrator, hash } = invitation
      const developer = { id: randomUUID(), name: parsed.data.name, passwordHash, administrator }
      const nowMs = clock.now()
      try {
        await act(actorOf({ developer, address: request.address }), async ({ developers }, audit) => {
          await rejectLookalike(developer.name, developers)
          const joined = await developers.join({ ...developer, createdAtMs: nowMs }, hash, nowMs)
          if (!joined) throw new PortalError('invalid_link')
          audit('developer_joined', { changes: changesOf({ administrator }) })
        })
      } catch (error) {
        if (!(error instanceof NameTaken)) throw error
        const state = { values: { name: developer.name }, errors: { name: error.message } }
        return { page: joinPage(request, state, invitation, localPasswords), status: 422 }
      }
      return startSession(developer, request, { method: 'link' })
    },
    async showNewPassword(request) {
      const { developer } = await findLink(request.params['token'])
      return { page: newPasswordPage(request, emptyForm, developer, localPasswords) }
    },
    async setPassword(request) {
      const { hash, developer } = await findLink(request.params['token'])
      const password = hasPassword(developer, localPasswords) ? newPassword(developer.name) : z.literal('')
      const parsed = parseForm(z.object({ new_password: password }), request.form)
      if (!parsed.data)
        return { page: newPasswordPage(request, parsed.state, developer, localPasswords), status: 422 }
      const { new_password: typed } = parsed.data
      const passwordHash = typed === '' ? undefined : await hashPassword(typed)
      await act(actorOf({ developer, address: request.address }), async ({ developers }, audit) => {
        if (!(await developers.usePasswordLink(hash, passwordHash, clock.now()))) {
          throw new PortalError('invalid_link')
        }
        if (passwordHash !== undefined) audit('password_set')
      })
      return startSession(developer, request, { method: 'link' })
    },
  }
}
