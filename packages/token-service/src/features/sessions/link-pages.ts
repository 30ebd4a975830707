import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { developerStorage, type Invitation, NameTaken } from '../people/storage.ts'
import type { Developer } from '../../storage/developer.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { type FormState, csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { openPages, type PortalRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { developerName, rejectLookalike } from './developer-name.ts'
import type { PortalService } from './openid-provider.ts'
import { hasPassword, hashPassword, newPassword } from './password.ts'
import { createSessionStarter, personOf } from './session.ts'
import { digest } from '../../runtime/digest.ts'
import { changesOf } from '../../storage/act.ts'

function joinForm({ name }: RawParameters, withPassword: boolean) {
  return z.object({
    name: developerName,
    password: withPassword ? newPassword(developerName.safeParse(name).data ?? '') : z.literal(''),
  })
}

/** The links with which people join, set a new password after they forgot theirs, or log in without any. */
export async function linkPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { get, post } = openPages(portal)
  const { storage, perform, clock, openidProvider } = service
  const localPasswords = openidProvider?.localPasswords ?? true
  const startSession = createSessionStarter(service)

  async function findInvitation(token = '') {
    const invitation = await storage.developers.findInvitation(digest(token), clock.now())
    if (!invitation) throw new PortalError('invalid_link')
    // Each start prints a link for the first administrator; the others do not need to be typed into.
    if (invitation.administrator && (await storage.developers.hasAdministrator()))
      throw new PortalError('has_administrator')
    return invitation
  }

  async function findLink(token = '') {
    const hash = digest(token)
    const developer = await storage.developers.findPasswordLink(hash, clock.now())
    if (!developer) throw new PortalError('invalid_link')
    return { hash, developer }
  }

  get(patterns.join, async (request) => ({
    page: joinPage(request, emptyForm, await findInvitation(request.params['token']), localPasswords),
  }))

  post(patterns.join, async (request) => {
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
      await perform(personOf({ developer, address: request.address }), async (act) => {
        const developers = developerStorage(act)
        await rejectLookalike(developer.name, developers)
        const joined = await developers.join({ ...developer, createdAtMs: nowMs }, hash, nowMs)
        if (!joined) throw new PortalError('invalid_link')
        act.audit('developer_joined', { changes: changesOf({ administrator }) })
      })
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
      const state = { values: { name: developer.name }, errors: { name: error.message } }
      return { page: joinPage(request, state, invitation, localPasswords), status: 422 }
    }
    return startSession(developer, request, { method: 'link' })
  })

  get(patterns.newPassword, async (request) => {
    const { developer } = await findLink(request.params['token'])
    return { page: newPasswordPage(request, emptyForm, developer, localPasswords) }
  })

  post(patterns.newPassword, async (request) => {
    const { hash, developer } = await findLink(request.params['token'])
    const password = hasPassword(developer, localPasswords) ? newPassword(developer.name) : z.literal('')
    const parsed = parseForm(z.object({ new_password: password }), request.form)
    if (!parsed.data)
      return { page: newPasswordPage(request, parsed.state, developer, localPasswords), status: 422 }
    const { new_password: typed } = parsed.data
    const passwordHash = typed === '' ? undefined : await hashPassword(typed)
    const changed = await perform(personOf({ developer, address: request.address }), async (act) => {
      const found = await developerStorage(act).usePasswordLink(hash, passwordHash, clock.now())
      if (!found) throw new PortalError('invalid_link')
      if (passwordHash !== undefined) act.audit('password_set')
      return found
    })
    return startSession(changed, request, { method: 'link' })
  })
}

/** Where a link leads: to a new password, or without any to a session. */
function newPasswordPage(
  request: PortalRequest,
  state: FormState,
  developer: Developer,
  localPasswords: boolean,
): PageContent {
  const { paths, params, csrfToken } = request
  const { name } = developer
  const withPassword = hasPassword(developer, localPasswords)
  const body = html`<p class="lead">For <strong>${name}</strong>. You will be logged out on all devices.</p>
    <form method="post" action="${paths.newPassword(params['token'] ?? '')}" class="card">
      ${csrfInput(csrfToken)}
      ${
        withPassword
          ? html`<input type="text" value="${name}" autocomplete="username" hidden />
              ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}`
          : ''
      }
      <button>${withPassword ? 'Set password' : 'Log in'}</button>
    </form>`
  return {
    title: withPassword ? 'Set a new password' : 'Log in with this link',
    body,
    isCard: true,
  }
}

/** The field for a new password. */
export function newPasswordField(
  { name, label }: { readonly name: string; readonly label: string },
  state: FormState,
): SafeHtml {
  const hint = 'At least 12 characters. Several words make a good password.'
  return field({ name, label, hint, type: 'password', autocomplete: 'new-password', minLength: 12 }, state)
}

function joinPage(
  request: PortalRequest,
  state: FormState,
  { administrator }: Invitation,
  localPasswords: boolean,
): PageContent {
  const { paths, params, csrfToken } = request
  const body = html`<p class="lead">
      ${
        administrator
          ? 'You are the first developer, so you will be the administrator: you can see every project, approve applications and invite other developers.'
          : 'You have been invited to register applications and manage their secrets.'
      }
    </p>
    <form method="post" action="${paths.join(params['token'] ?? '')}" class="card">
      ${csrfInput(csrfToken)}
      ${field({ name: 'name', label: 'Name', hint: localPasswords ? 'You will log in with this name. It is saved in lower case.' : 'It is saved in lower case. To log in again, ask for a link.', autocomplete: 'username' }, state)}
      ${localPasswords ? newPasswordField({ name: 'password', label: 'Password' }, state) : ''}
      <button>Join</button>
    </form>`
  return { title: 'Join the developer portal', body, isCard: true }
}
