import { html, type SafeHtml } from '@remix-run/html-template'
import type { Passkey } from '../../storage/developer-storage.ts'
import { copyButton } from '../layout/copyable.ts'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, emptyForm, field, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import { relativeTime, relativeTimeOrNever } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { newPasswordField } from '../session/link-pages.ts'
import { relyingPartyOf } from '../session/passkeys.ts'

export interface AccountContent {
  readonly state: FormState
  /** Whether the account is a local one. */
  readonly withPassword: boolean
  readonly passkeys: readonly Passkey[]
  /** How many are left. */
  readonly recoveryCodes: number
  readonly nowMs: number
  /** The account at the OpenID provider. */
  readonly linkSection: SafeHtml | string
}

export function accountPage(request: DeveloperRequest, content: AccountContent): PageContent {
  const { developer } = request
  const { withPassword, linkSection } = content
  const body = html`<p class="lead">
      You are logged in as <strong>${developer.name}</strong>${
        developer.administrator ? ', an administrator' : ''
      }.
    </p>
    ${
      withPassword
        ? html`${passkeySection(request, content)} ${passwordSection(request, content)}`
        : html`<p>You log in without a password here.</p>`
    }
    ${linkSection}`
  return { title: 'Your account', body, scripts: withPassword ? ['passkey.js'] : [] }
}

function passkeySection(request: DeveloperRequest, content: AccountContent): SafeHtml {
  const { passkeys, nowMs } = content
  return html`<section class="card" aria-labelledby="passkeys">
    <h2 id="passkeys">Passkeys</h2>
    <p class="hint">Log in with your device, a security key or a password manager instead of the password.</p>
    ${
      passkeys.length === 0
        ? ''
        : html`<table class="stacked">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Added</th>
                  <th scope="col">Last used</th>
                  <th scope="col"><span class="visually-hidden">Action</span></th>
                </tr>
              </thead>
              <tbody>
                ${passkeys.map(
                  (passkey, index) =>
                    html`<tr>
                      <td data-label="Name"><strong>${passkey.name}</strong></td>
                      <td data-label="Added">${relativeTime(passkey.createdAtMs, nowMs)}</td>
                      <td data-label="Last used">${relativeTimeOrNever(passkey.lastUsedAtMs, nowMs)}</td>
                      <td class="action">${removal(request, passkey, index)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
            ${recoveryCodesRow(request, content)}`
    }
    ${addition(request)}
  </section>`
}

function removal({ paths, csrfToken }: DeveloperRequest, { id, name }: Passkey, index: number): SafeHtml {
  return dialog({
    id: `passkey-${index}`,
    label: html`Remove<span class="visually-hidden"> ${name}</span>`,
    style: 'outline small',
    title: `Remove ${name}?`,
    body: html`<input type="hidden" name="passkey" value="${id}" />
      <p>You can no longer log in with it. Delete it on the device as well.</p>`,
    action: paths.passkeyRemoval,
    confirm: 'Remove passkey',
    csrfToken,
    danger: true,
  })
}

function recoveryCodesRow(
  { paths, csrfToken }: DeveloperRequest,
  { recoveryCodes }: AccountContent,
): SafeHtml {
  return html`<div class="bar">
    <p>${recoveryCodes} of 10 recovery codes left</p>
    <div class="actions">
      ${dialog({
        id: 'recovery',
        label: 'Create recovery codes',
        style: 'outline small',
        title: 'Create ten new recovery codes?',
        body: html`<p>The present ones stop working.</p>`,
        action: paths.recoveryCodes,
        confirm: 'Create codes',
        csrfToken,
      })}
    </div>
  </div>`
}

function addition(request: DeveloperRequest): SafeHtml {
  const { paths, csrfToken } = request
  if (!relyingPartyOf(request)) {
    return html`<p class="hint">Passkeys need HTTPS and a host name: open the portal that way to add one.</p>`
  }
  const hint = 'To tell it from your other passkeys.'
  return html`<form
      method="post"
      action="${paths.newPasskey}"
      class="form"
      data-passkey="${paths.newPasskeyOptions}"
    >
      ${csrfInput(csrfToken)}<input type="hidden" name="credential" />
      ${field({ name: 'name', label: 'Name of the passkey', hint, required: false }, emptyForm)}
      <button>Add a passkey</button>
      <p class="error" role="alert"></p>
    </form>
    <noscript><p class="hint">To add a passkey, switch on JavaScript.</p></noscript>`
}

function passwordSection(
  { paths, csrfToken, developer }: DeveloperRequest,
  { state, passkeys }: AccountContent,
): SafeHtml {
  const switchTo = (value: 'on' | 'off') =>
    html`${csrfInput(csrfToken)}<input type="hidden" name="password_log_in" value="${value}" />`
  if (developer.passkeyOnly) {
    return html`<form method="post" action="${paths.passwordSwitch}" class="card form">
      <h2>Password</h2>
      <p>Your password is off: you log in with a passkey only.</p>
      ${switchTo('on')}<button class="outline">Switch on the password</button>
    </form>`
  }
  return html`<form method="post" action="${paths.account}" class="card form">
      <h2>Change password</h2>
      <p class="hint">You will be logged out on all other devices.</p>
      ${csrfInput(csrfToken)}
      ${field({ name: 'password', label: 'Current password', type: 'password', autocomplete: 'current-password' }, state)}
      ${newPasswordField({ name: 'new_password', label: 'New password' }, state)}
      <button>Change password</button>
    </form>
    ${
      passkeys.length === 0
        ? ''
        : html`<form method="post" action="${paths.passwordSwitch}" class="card form">
            <h2>Passkey only</h2>
            <p class="hint">Nobody can then log in with your password, even if they know it.</p>
            ${switchTo('off')}<button class="outline">Switch off the password</button>
          </form>`
    }`
}

/** The only page that shows recovery codes. */
export function recoveryCodesPage(request: DeveloperRequest, codes: readonly string[]): PageContent {
  const { paths } = request
  const body = html`<section class="notice" data-variant="warning" aria-labelledby="codes-title">
      <div class="bar">
        <h2 id="codes-title">Copy the recovery codes now</h2>
        <div class="actions">${copyButton('codes', 'Copy the codes')}</div>
      </div>
      <p>
        If you lose your passkeys, your name and one of these codes log you in. Each works once. They are not
        shown again, because only their hashes are stored.
      </p>
      <pre
        tabindex="0"
        role="region"
        aria-label="Recovery codes"
      ><code id="codes">${codes.join('\n')}</code></pre>
    </section>
    <p class="bar"><a class="button" href="${paths.account}">Continue to your account</a></p>`
  return { title: 'Recovery codes', body, trail: [['Your account', paths.account]] }
}
