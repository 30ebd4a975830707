import { html, type SafeHtml } from '@remix-run/html-template'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { page } from '../layout/page.ts'
import type { PortalRequest } from '../portal-request.ts'

export interface LogInContent {
  readonly state: FormState
  readonly hasDevelopers: boolean
  /** The path to continue to. */
  readonly next: string
}

export function logInPage(request: PortalRequest, { state, hasDevelopers, next }: LogInContent): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`${
      hasDevelopers
        ? ''
        : html`<div class="notice" data-variant="warning">
            <p>
              There are no developers yet. When the service starts, it prints a link for the first one. The
              link works only once and expires after 15 minutes. Restart the service to get a new link.
            </p>
          </div>`
    }
    <form method="post" action="${paths.logIn}" class="card">
      ${csrfInput(csrfToken)}<input type="hidden" name="next" value="${next}" />
      ${field({ name: 'name', label: 'Name', autocomplete: 'username' }, state)}
      ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, state)}
      <button>Log in</button>
    </form>
    <p class="muted">Forgot your password? Ask an administrator for a link to set a new one.</p>`
  return page(request, { title: 'Log in', body, isCard: true })
}
