import { html, type SafeHtml } from '@remix-run/html-template'
import type { Session } from '../../features/sessions/storage.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { list, type Column } from '../layout/list.ts'
import type { PageContent } from '../layout/page.ts'
import { relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { sessionStart } from '../session/session.ts'
import { newPasswordField } from '../session/link-pages.ts'

export interface AccountContent {
  readonly state: FormState
  /** Whether the account is a local one. */
  readonly withPassword: boolean
  /** The account at the OpenID provider. */
  readonly linkSection: SafeHtml | string
  /** Those of the developer, this one among them. */
  readonly sessions: readonly Omit<Session, 'provider'>[]
  readonly nowMs: number
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
    ${linkSection} ${sessionsSection(request, content)}`
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

/** Where the developer is logged in: what is not theirs, they end. */
function sessionsSection(
  { paths, csrfToken, sessionHash }: DeveloperRequest,
  { sessions, nowMs }: AccountContent,
): SafeHtml {
  const columns: readonly Column<Omit<Session, 'provider'>>[] = [
    {
      label: 'Browser',
      kind: 'name',
      cell: ({ hash, browser = 'Another browser' }) =>
        html`<strong class="cut">${browser}</strong
          >${hash === sessionHash ? html`<span class="cut below">This one</span>` : ''}`,
    },
    {
      label: 'Address',
      kind: 'text',
      leaves: 1,
      cell: ({ address = '' }) => html`<code class="cut">${address}</code>`,
    },
    {
      label: 'Logged in',
      kind: 'time',
      cell: ({ expiresAtMs }) => relativeTime(sessionStart(expiresAtMs), nowMs),
    },
    {
      label: 'End',
      kind: 'end',
      cell: ({ hash, browser }) =>
        hash === sessionHash
          ? ''
          : html`<button class="small outline" form="sessions" name="session" value="${hash}">
              End<span class="visually-hidden"> the session of ${browser}</span>
            </button>`,
    },
  ]
  return html`<section aria-labelledby="sessions-title">
    <div class="bar">
      <h2 id="sessions-title">Sessions</h2>
      <form id="sessions" class="actions" method="post" action="${paths.sessions}">
        ${csrfInput(csrfToken)}
        ${sessions.length > 1 ? html`<button class="outline" name="session" value="others">End all others</button>` : ''}
      </form>
    </div>
    ${list(columns, sessions, { label: 'Sessions' })}
  </section>`
}
