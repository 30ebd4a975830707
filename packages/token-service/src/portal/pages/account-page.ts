import { html, type SafeHtml } from '@remix-run/html-template'
import type { DeveloperExchange } from '../exchange.ts'
import { field, formToken, mistakeSummary, type FormState } from '../page/form.ts'
import { newPasswordField } from '../page/new-password-field.ts'
import { page } from '../page/page.ts'

export function accountPage(exchange: DeveloperExchange, state: FormState): SafeHtml {
  const { paths, visit, developer } = exchange
  const body = html`<div class="narrow">
    <p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', the administrator' : ''
      }.
    </p>
    ${mistakeSummary(state)}
    <form method="post" action="${paths.account}" class="card">
      <h2>Change the password</h2>
      <p class="hint">Wherever else you are logged in, you will be logged out.</p>
      ${formToken(visit)}
      ${field({ name: 'password', label: 'Password as it is', type: 'password', autocomplete: 'current-password' }, state)}
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Change it</button>
    </form>
  </div>`
  return page(exchange, { title: 'Your account', body })
}
