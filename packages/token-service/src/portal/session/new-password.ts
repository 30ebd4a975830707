import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import { csrfInput, type FormState, field } from '../layout/form.ts'
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

/** The field for a new password. */
export function newPasswordField(
  { name, label }: { readonly name: string; readonly label: string },
  state: FormState,
): SafeHtml {
  const hint = 'At least 12 characters. Several words make a good password.'
  return field({ name, label, hint, type: 'password', autocomplete: 'new-password', minLength: 12 }, state)
}
