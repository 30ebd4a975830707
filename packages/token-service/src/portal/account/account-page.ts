import { html, type SafeHtml } from '@remix-run/html-template'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { newPasswordField } from '../session/new-password.ts'
import { page } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export function accountPage(request: DeveloperRequest, state: FormState): SafeHtml {
  const { paths, csrfToken, developer } = request
  const body = html`<p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', an administrator' : ''
      }.
    </p>
    <form method="post" action="${paths.account}" class="card form">
      <h2>Change password</h2>
      <p class="hint">You will be logged out on all other devices.</p>
      ${csrfInput(csrfToken)}
      ${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' }, state)}
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Change password</button>
    </form>`
  return page(request, { title: 'Your account', body })
}
