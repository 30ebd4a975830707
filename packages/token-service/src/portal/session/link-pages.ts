import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer, Invitation } from '../../storage/developer-storage.ts'
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

export function joinPage(request: PortalRequest, state: FormState, { administrator }: Invitation): SafeHtml {
  const { paths, params, csrfToken } = request
  const body = html`<p class="lead">
      ${
        administrator
          ? 'You are the first developer, so you will be the administrator: you can see every project, approve applications and invite other developers.'
          : 'You have been invited to register applications and manage their secrets.'
      }
    </p>
    <form method="post" action="${paths.join(params['token'] ?? '')}" class="card">
      ${csrfInput(csrfToken)}
      ${field({ name: 'name', label: 'Name', hint: 'You will log in with this name. It is saved in lower case.', autocomplete: 'username' }, state)}
      ${newPasswordField({ name: 'password', label: 'Password' }, state)}
      <button>Join</button>
    </form>`
  return page(request, { title: 'Join the developer portal', body, isCard: true })
}
