import { html, type SafeHtml } from '@remix-run/html-template'
import type { Invitation } from '../../storage/developer-storage.ts'
import type { Exchange } from '../exchange.ts'
import { field, formToken, mistakeSummary, type FormState } from '../page/form.ts'
import { newPasswordField } from '../page/new-password-field.ts'
import { page } from '../page/page.ts'

export function joinPage(exchange: Exchange, state: FormState, { administrator }: Invitation): SafeHtml {
  const { paths, params, visit } = exchange
  const body = html`<div class="narrow">
    <p class="lead">
      ${
        administrator
          ? 'You are the first: you will see every project, approve applications and invite others.'
          : 'You have been invited to register applications and manage their secrets.'
      }
    </p>
    ${mistakeSummary(state)}
    <form method="post" action="${paths.join(params['token'] ?? '')}" class="card">
      ${formToken(visit)}
      ${field({ name: 'name', label: 'Name', hint: 'You log in with it.', autocomplete: 'username' }, state)}
      ${newPasswordField({ name: 'password', label: 'Password' }, state)}
      <button>Join</button>
    </form>
  </div>`
  return page(exchange, { title: 'Join the developer portal', body })
}
