import { html, type SafeHtml } from '@remix-run/html-template'
import type { Invitation } from '../../storage/developer-storage.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { newPasswordField } from './new-password.ts'
import { page } from '../layout/page.ts'
import type { PortalRequest } from '../portal-request.ts'

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
