import { html, type SafeHtml } from '@remix-run/html-template'
import type { Exchange } from '../exchange.ts'
import { field, formToken, mistakeSummary, type FormState } from '../page/form.ts'
import { page } from '../page/page.ts'

export function logInPage(exchange: Exchange, state: FormState, anybodyJoined: boolean): SafeHtml {
  const { paths, visit } = exchange
  const body = html`<div class="narrow">
    ${
      anybodyJoined
        ? ''
        : html`<div class="notice">
            <p>
              Nobody has joined yet. The service says a link when it starts: it makes the first developer,
              works once, and for 15 minutes. Start the service again for a new one.
            </p>
          </div>`
    }
    ${mistakeSummary(state)}
    <form method="post" action="${paths.logIn}" class="card">
      ${formToken(visit)} ${field({ name: 'name', label: 'Name', autocomplete: 'username' }, state)}
      ${field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }, state)}
      <button>Log in</button>
    </form>
  </div>`
  return page(exchange, { title: 'Log in', body })
}
