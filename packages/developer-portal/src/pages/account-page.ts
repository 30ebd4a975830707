import { html, type SafeHtml } from '@remix-run/html-template'
import type { DeveloperRequest } from '../request/portal-request.ts'
import { field, csrfInput, errorSummary, type FormState } from '../components/form.ts'
import { newPasswordField } from '../components/new-password-field.ts'
import { page } from '../components/page.ts'

export function accountPage(request: DeveloperRequest, state: FormState): SafeHtml {
  const { paths, csrfToken, developer } = request
  const body = html`<div class="narrow">
    <p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', an administrator' : ''
      }.
    </p>
    ${errorSummary(state)}
    <form method="post" action="${paths.account}" class="card">
      <h2>Change password</h2>
      <p class="hint">You will be logged out on all other devices.</p>
      ${csrfInput(csrfToken)}
      ${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' }, state)}
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Change password</button>
    </form>
  </div>`
  return page(request, { title: 'Your account', body })
}
