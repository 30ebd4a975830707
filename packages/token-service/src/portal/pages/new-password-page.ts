import { html, type SafeHtml } from '@remix-run/html-template'
import type { Developer } from '../../storage/developer-storage.ts'
import type { Exchange } from '../exchange.ts'
import { formToken, mistakeSummary, type FormState } from '../page/form.ts'
import { newPasswordField } from '../page/new-password-field.ts'
import { page } from '../page/page.ts'

export function newPasswordPage(exchange: Exchange, state: FormState, { name }: Developer): SafeHtml {
  const { paths, params, visit } = exchange
  const body = html`<div class="narrow">
    <p class="lead">For <strong>${name}</strong>. Wherever you are logged in, you will be logged out.</p>
    ${mistakeSummary(state)}
    <form method="post" action="${paths.newPassword(params['token'] ?? '')}" class="card">
      ${formToken(visit)}
      <input type="text" value="${name}" autocomplete="username" hidden />
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Set it</button>
    </form>
  </div>`
  return page(exchange, { title: 'Set a new password', body })
}
