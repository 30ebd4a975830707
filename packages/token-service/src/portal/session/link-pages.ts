import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer, Invitation } from '../../features/people/storage.ts'
import { csrfInput, type FormState, field } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { PortalRequest } from '../portal-request.ts'

/** Those of the OpenID provider have none; if local passwords are switched off, nobody has. */
export function hasPassword({ passwordHash }: Developer, localPasswords: boolean): boolean {
  return localPasswords && passwordHash !== ''
}

/** Where a link leads: to a new password, or without any to a session. */
export function newPasswordPage(
  request: PortalRequest,
  state: FormState,
  developer: Developer,
  localPasswords: boolean,
): PageContent {
  const { paths, params, csrfToken } = request
  const { name } = developer
  const withPassword = hasPassword(developer, localPasswords)
  const body = html`<p class="lead">For <strong>${name}</strong>. You will be logged out on all devices.</p>
    <form method="post" action="${paths.newPassword(params['token'] ?? '')}" class="card">
      ${csrfInput(csrfToken)}
      ${
        withPassword
          ? html`<input type="text" value="${name}" autocomplete="username" hidden />
              ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}`
          : ''
      }
      <button>${withPassword ? 'Set password' : 'Log in'}</button>
    </form>`
  return {
    title: withPassword ? 'Set a new password' : 'Log in with this link',
    body,
    isCard: true,
  }
}

/** The field for a new password. */
export function newPasswordField(
  { name, label }: { readonly name: string; readonly label: string },
  state: FormState,
): SafeHtml {
  const hint = 'At least 12 characters. Several words make a good password.'
  return field({ name, label, hint, type: 'password', autocomplete: 'new-password', minLength: 12 }, state)
}

export function joinPage(
  request: PortalRequest,
  state: FormState,
  { administrator }: Invitation,
  localPasswords: boolean,
): PageContent {
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
      ${field({ name: 'name', label: 'Name', hint: localPasswords ? 'You will log in with this name. It is saved in lower case.' : 'It is saved in lower case. To log in again, ask for a link.', autocomplete: 'username' }, state)}
      ${localPasswords ? newPasswordField({ name: 'password', label: 'Password' }, state) : ''}
      <button>Join</button>
    </form>`
  return { title: 'Join the developer portal', body, isCard: true }
}
