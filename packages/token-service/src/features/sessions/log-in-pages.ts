import { html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { OpenidProviderSettings } from '../people/openid-provider-settings.ts'
import { portalRoot } from '../../oauth/base-url.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { type FormState, csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { parseForm } from '../../portal/layout/parse-form.ts'
import { openPages, type PortalRequest, type PortalResponse } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import type { PortalService } from './openid-provider.ts'
import { createPasswordChecker, tooManyAttempts } from './password-checker.ts'
import { createSessionStarter, personOf } from './session.ts'
import { sessionStorage } from './storage.ts'

const logInForm = z.object({
  name: z.string().regex(/^\P{Cc}{0,200}$/u, 'Enter a name without control characters.'),
  password: z.string().max(1_000),
})

/** Logging in and out. */
export async function logInPages(portal: FastifyInstance, service: PortalService): Promise<void> {
  const { get, post } = openPages(portal)
  const { storage, perform, keyring, openid } = service
  const provider = openid?.settings
  const { developers } = storage
  const startSession = createSessionStarter(service)
  const checkPassword = createPasswordChecker(service)

  async function idTokenOf(sessionHash: string): Promise<string | undefined> {
    const encrypted = openid && (await storage.sessions.findIdToken(sessionHash))
    return encrypted === undefined ? undefined : keyring.decrypt(encrypted)
  }

  get(patterns.logIn, async (request) => {
    const next = nextPath(request, request.query)
    if (request.developer) return { redirectTo: next }
    // The members of a group need no link.
    const hasDevelopers =
      (provider?.administratorGroups.length ?? 0) > 0 || (await developers.list()).length > 0
    return { page: logInPage(request, { state: emptyForm, hasDevelopers, next, provider }) }
  })

  post(patterns.logIn, async (request) => {
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
  })

  post(patterns.logOut, async (request) => {
    const { sessionHash, developer, address, paths, baseUrl } = request
    const ended = { sessionId: null, notice: 'logged_out' } as const
    if (sessionHash !== undefined && developer) {
      const idToken = await idTokenOf(sessionHash)
      await perform(personOf({ developer, address }), async (act) => {
        await sessionStorage(act).close(sessionHash)
        act.audit('logged_out')
      })
      if (openid && idToken !== undefined) {
        const url = await openid.logOutUrl(idToken, `${baseUrl}${portalRoot}${patterns.logIn}`)
        if (url !== undefined) return { page: logOutPage(request, openid.settings.name, url), ...ended }
      }
    }
    return { redirectTo: paths.logIn, ...ended }
  })
}

interface LogInContent {
  readonly state: FormState
  readonly hasDevelopers: boolean
  /** The path to continue to. */
  readonly next: string
  readonly provider: OpenidProviderSettings | undefined
  /** Why the log-in through the provider failed. */
  readonly problem?: string | undefined
}

/** Where to continue after the login: only in the portal. */
export function nextPath({ paths }: PortalRequest, { next }: RawParameters): string {
  const origin = 'http://portal'
  if (typeof next !== 'string' || !URL.canParse(next, origin)) return paths.root
  const { href, pathname } = new URL(next, origin)
  const isPath = href === `${origin}${next}` && !pathname.includes('//')
  return isPath && pathname.startsWith(`${paths.root}/`) ? next : paths.root
}

export function logInPage(request: PortalRequest, content: LogInContent): PageContent {
  const { state, hasDevelopers, next, provider, problem } = content
  const { paths, csrfToken } = request

  const body = html`${
    hasDevelopers
      ? ''
      : html`<div class="notice" data-variant="warning">
          <p>
            There are no developers yet. When the service starts, it prints a link for the first one. The link
            works only once and expires after 15 minutes. Restart the service to get a new link.
          </p>
        </div>`
  }
  ${problem === undefined ? '' : html`<div role="alert" class="notice" data-variant="danger">${problem}</div>`}
  ${
    provider
      ? html`<p class="card">
          <a class="button" href="${paths.openidLogIn}?${new URLSearchParams({ next }).toString()}"
            >Log in with ${provider.name}</a
          >
        </p>`
      : ''
  }
  ${
    provider?.localPasswords === false
      ? ''
      : html`<form method="post" action="${paths.logIn}" class="card">
            ${csrfInput(csrfToken)}<input type="hidden" name="next" value="${next}" />
            ${field({ name: 'name', label: 'Name', autocomplete: 'username' }, state)}
            ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, state)}
            <button class="${provider ? 'outline' : ''}">Log in</button>
          </form>
          <p class="muted">Forgot your password? Ask an administrator for a link to set a new one.</p>`
  }`
  return { title: 'Log in', body, isCard: true }
}

/**
 * Continues to the provider, which ends its own session. Not a redirect: the content security policy forbids one that
 * leads from a form to another site.
 */
function logOutPage(request: PortalRequest, name: string, url: string): PageContent {
  const body = html`<div class="card">
    <p>You are logged out here. <a href="${url}">Log out of ${name} too</a></p>
  </div>`
  return { title: 'Log out', body, isCard: true, continueTo: url }
}
