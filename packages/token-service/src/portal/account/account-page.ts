import { html, type SafeHtml } from '@remix-run/html-template'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { newPasswordField } from '../session/link-pages.ts'

export interface AccountContent {
  readonly state: FormState
  /** Whether the account is a local one. */
  readonly withPassword: boolean
  /** The account at the OpenID provider. */
  readonly linkSection: SafeHtml | string
}

export function accountPage(request: DeveloperRequest, content: AccountContent): PageContent {
  const { developer } = request
  const { state, withPassword, linkSection } = content
  const body = html`<p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', an administrator' : ''
      }.
    </p>
    ${withPassword ? passwordForm(request, state) : html`<p>You log in without a password here.</p>`}
    ${linkSection}`
  return { title: 'Your account', body }
}

function passwordForm({ paths, csrfToken }: DeveloperRequest, state: FormState): SafeHtml {
  return html`<form method="post" action="${paths.account}" class="card form">
    <h2>Change password</h2>
    <p class="hint">You will be logged out on all other devices.</p>
    ${csrfInput(csrfToken)}
    ${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' }, state)}
    ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
    <button>Change password</button>
  </form>`
}
