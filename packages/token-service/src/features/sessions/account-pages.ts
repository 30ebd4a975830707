import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { developerStorage } from '../people/storage.ts'
import { sessionStorage, type Session } from './storage.ts'
import { type FormState, csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import { type Column, list } from '../../portal/layout/list.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { relativeTime } from '../../portal/layout/time.ts'
import { developerPages, type DeveloperRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { newPasswordField } from './link-pages.ts'
import { linkSection } from './openid-pages.ts'
import type { PortalService } from './openid-provider.ts'
import { createPasswordChecker, tooManyAttempts } from './password-checker.ts'
import { hasPassword, hashPassword, newPassword } from './password.ts'
import { actorOf, createSessionStarter, sessionStart } from './session.ts'

/** The developer's own account. */
export async function accountPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { get, post } = developerPages(portal)
  const { storage, perform, clock } = service
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

  get(patterns.account, async (request) => ({ page: accountPage(request, await contentOf(request)) }))

  post(patterns.sessions, async (request) => {
    const { developer, sessionHash, form, paths } = request
    const all = await storage.sessions.list(developer.id, clock.now())
    const others = all.map(({ hash }) => hash).filter((hash) => hash !== sessionHash)
    const ended = others.filter((hash) => form['session'] === 'others' || form['session'] === hash)
    if (ended.length === 0) throw new PortalError('not_found')
    await perform(actorOf(request), async (act) => {
      for (const hash of ended) {
        await sessionStorage(act).close(hash)
        act.audit('session_ended')
      }
    })
    return { redirectTo: paths.account, notice: ended.length === 1 ? 'session_ended' : 'sessions_ended' }
  })

  post(patterns.account, async (request) => {
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
    await perform(actorOf(request), async (act) => {
      await developerStorage(act).changePassword(developer.id, passwordHash)
      await sessionStorage(act).closeAll(developer.id)
      act.audit('password_changed')
    })
    const started = await startSession({ ...developer, passwordHash }, request, {
      method: 'password',
      next: request.paths.account,
    })
    return { ...started, notice: 'password_changed' }
  })
}

interface AccountContent {
  readonly state: FormState
  /** Whether the account is a local one. */
  readonly withPassword: boolean
  /** The account at the OpenID provider. */
  readonly linkSection: SafeHtml | string
  /** Those of the developer, this one among them. */
  readonly sessions: readonly Omit<Session, 'provider'>[]
  readonly nowMs: number
}

function accountPage(request: DeveloperRequest, content: AccountContent): PageContent {
  const { developer } = request
  const { state, withPassword, linkSection } = content
  const body = html`<p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', an administrator' : ''
      }.
    </p>
    ${withPassword ? passwordForm(request, state) : html`<p>You log in without a password here.</p>`}
    ${linkSection} ${sessionsSection(request, content)}`
  return { title: 'Your account', body }
}

function passwordForm({ paths, csrfToken }: DeveloperRequest, state: FormState): SafeHtml {
  return html`<form method="post" action="${paths.account}" class="card form">
    <h2>Change password</h2>
    <p class="hint">You will be logged out on all other devices.</p>
    ${csrfInput(csrfToken)}
    ${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' }, state)}
    ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
    <button>Change password</button>
  </form>`
}

/** Where the developer is logged in: what is not theirs, they end. */
function sessionsSection(
  { paths, csrfToken, sessionHash }: DeveloperRequest,
  { sessions, nowMs }: AccountContent,
): SafeHtml {
  const columns: readonly Column<Omit<Session, 'provider'>>[] = [
    {
      label: 'Browser',
      kind: 'name',
      cell: ({ hash, browser = 'Another browser', address }) => {
        const below = [address, hash === sessionHash ? 'this one' : undefined].filter(Boolean).join(' · ')
        return html`<strong class="cut">${browser}</strong
          >${below && html`<span class="cut below">${below}</span>`}`
      },
    },
    {
      label: 'Logged in',
      kind: 'time',
      cell: ({ expiresAtMs }) => relativeTime(sessionStart(expiresAtMs), nowMs),
    },
    {
      label: 'End',
      kind: 'end',
      cell: ({ hash, browser }) =>
        hash === sessionHash
          ? ''
          : html`<button class="small outline" form="sessions" name="session" value="${hash}">
              End<span class="visually-hidden"> the session of ${browser}</span>
            </button>`,
    },
  ]
  return html`<section aria-labelledby="sessions-title">
    <div class="bar">
      <h2 id="sessions-title">Sessions</h2>
      <form id="sessions" class="actions" method="post" action="${paths.sessions}">
        ${csrfInput(csrfToken)}
        ${sessions.length > 1 ? html`<button class="outline" name="session" value="others">End all others</button>` : ''}
      </form>
    </div>
    ${list(columns, sessions, { label: 'Sessions' })}
  </section>`
}
