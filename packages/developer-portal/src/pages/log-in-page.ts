import { html, type SafeHtml } from '@remix-run/html-template'
import type { PortalRequest } from '../request/portal-request.ts'
import { field, csrfInput, errorSummary, type FormState } from '../components/form.ts'
import { page } from '../components/page.ts'

export function logInPage(request: PortalRequest, state: FormState, hasDevelopers: boolean): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<div class="narrow">
    ${
      hasDevelopers
        ? ''
        : html`<div class="notice">
            <p>
              There are no developers yet. When the service starts, it prints a link for the first one. The
              link works once, for 15 minutes. Restart the service to get a new link.
            </p>
          </div>`
    }
    ${errorSummary(state)}
    <form method="post" action="${paths.logIn}" class="card">
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Name', autocomplete: 'username' }, state)}
      ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, state)}
      <button>Log in</button>
    </form>
  </div>`
  return page(request, { title: 'Log in', body })
}
