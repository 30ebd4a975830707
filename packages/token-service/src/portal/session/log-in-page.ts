import { html } from '@remix-run/html-template'
import type { OpenidProviderSettings } from '../../features/people/openid-provider-options.ts'
import type { RawParameters } from '../../oauth/parameters.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { PortalRequest } from '../portal-request.ts'

export interface LogInContent {
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
export function logOutPage(request: PortalRequest, name: string, url: string): PageContent {
  const body = html`<div class="card">
    <p>You are logged out here. <a href="${url}">Log out of ${name} too</a></p>
  </div>`
  return { title: 'Log out', body, isCard: true, continueTo: url }
}
