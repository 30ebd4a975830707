import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '@tokenwell/token-service/plugin'
import type { PortalRequest } from '../request/portal-request.ts'
import { csrfInput, errorSummary, type FormState } from '../components/form.ts'
import { newPasswordField } from '../components/new-password-field.ts'
import { page } from '../components/page.ts'

export function newPasswordPage(request: PortalRequest, state: FormState, { name }: Developer): SafeHtml {
  const { paths, params, csrfToken } = request
  const body = html`<div class="narrow">
    <p class="lead">For <strong>${name}</strong>. You will be logged out on all devices.</p>
    ${errorSummary(state)}
    <form method="post" action="${paths.newPassword(params['token'] ?? '')}" class="card">
      ${csrfInput(csrfToken)}
      <input type="text" value="${name}" autocomplete="username" hidden />
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Set password</button>
    </form>
  </div>`
  return page(request, { title: 'Set a new password', body })
}
