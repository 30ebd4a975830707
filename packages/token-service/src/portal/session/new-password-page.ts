import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import { csrfInput, type FormState } from '../layout/form.ts'
import { newPasswordField } from './new-password-field.ts'
import { page } from '../layout/page.ts'
import type { PortalRequest } from '../portal-request.ts'

export function newPasswordPage(request: PortalRequest, state: FormState, { name }: Developer): SafeHtml {
  const { paths, params, csrfToken } = request
  const body = html`<p class="lead">For <strong>${name}</strong>. You will be logged out on all devices.</p>
    <form method="post" action="${paths.newPassword(params['token'] ?? '')}" class="card">
      ${csrfInput(csrfToken)}
      <input type="text" value="${name}" autocomplete="username" hidden />
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Set password</button>
    </form>`
  return page(request, { title: 'Set a new password', body, isCard: true })
}
