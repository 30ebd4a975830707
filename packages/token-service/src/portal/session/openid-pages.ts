import { html, type SafeHtml } from '@remix-run/html-template'
import type { OpenidProviderSettings } from '../../features/people/openid-provider-options.ts'
import { csrfInput } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest, PortalRequest } from '../portal-request.ts'

const title = 'Your account'

/** Of the account page; empty if the account at the provider is the only way to log in. */
export function linkSection(
  { paths, csrfToken }: DeveloperRequest,
  { name, administratorGroups }: OpenidProviderSettings,
  { isLinked, withPassword }: { readonly isLinked: boolean; readonly withPassword: boolean },
): SafeHtml | string {
  if (!isLinked)
    return html`<form method="post" action="${paths.linkOpenid}" class="card form">
      <h2>Log in with ${name}</h2>
      <p class="hint">
        Link your account there to log in with it, too.
        ${administratorGroups.length > 0 ? 'When you log in with it, its groups decide your role.' : ''}
      </p>
      ${csrfInput(csrfToken)}<button>Link your account at ${name}</button>
    </form>`
  if (!withPassword) return ''
  return html`<form method="post" action="${paths.unlinkOpenid}" class="card form">
    <h2>Log in with ${name}</h2>
    <p class="hint">
      Your account there is linked. If you unlink it, you are logged out wherever you logged in with it.
    </p>
    ${csrfInput(csrfToken)}<button class="outline">Unlink your account at ${name}</button>
  </form>`
}

/** Continues to the provider. Not a redirect, as at the log-out. */
export function linkPage(request: PortalRequest, name: string, url: string): PageContent {
  const body = html`<p class="card"><a href="${url}">Continue to ${name}</a></p>`
  return { title, body, isCard: true, continueTo: url }
}

export function notLinkedPage(request: PortalRequest, problem: string): PageContent {
  const body = html`<div role="alert" class="notice" data-variant="danger">${problem}</div>
    <p><a href="${request.paths.account}">Back to your account</a></p>`
  return { title, body }
}
