import { html, type SafeHtml } from '@remix-run/html-template'
import type { PageContent } from '../layout/page.ts'
import type { RegisteredClient } from '../../storage/application.ts'
import { tokenSnippets } from '../layout/snippets.ts'
import { linkTo } from '../layout/paging.ts'
import { lastUse, type LastUses, relativeTime } from '../layout/time.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { settingsList } from './application-form.ts'
import { applicationFrame } from './application-frame.ts'
import { usageChart } from './usage-chart.ts'
import type { Usage } from './usage.ts'

export interface ApplicationContent {
  readonly client: RegisteredClient
  readonly usage: Usage
  readonly lastUses: LastUses
  readonly nowMs: number
}

/** The overview of an application: is it working, and with which settings. */
export function applicationPage(request: DeveloperRequest, content: ApplicationContent): PageContent {
  const { client, usage, lastUses, nowMs } = content
  const { application, project } = client
  const { id, clientId, lifetimeSeconds } = application
  const { paths, baseUrl } = request
  const usedAtMs = lastUses.get(id)
  const body = html`<section aria-labelledby="usage">
      ${usageChart(usage, paths.application(project.id, id))}
    </section>
    <section aria-labelledby="token">
      <h2 id="token">Latest token</h2>
      ${
        usedAtMs === undefined
          ? html`<p class="muted">The application has not received a token yet.</p>`
          : html`<p>
              ${well((usedAtMs - nowMs) / lifetimeSeconds / 1000 + 1)} Requested
              ${lastUse(id, lastUses, nowMs)}. ${expiry(usedAtMs + lifetimeSeconds * 1000, nowMs)}
            </p>`
      }
    </section>
    <section aria-labelledby="request">
      <h2 id="request">Request a token</h2>
      <p>
        Replace <code>YOUR_CLIENT_SECRET</code>. If you do not have the secret any more, create a new one with
        the <a href="${paths.credentials(project.id, id)}">credentials</a>. Or
        <a href="${linkTo(paths.reference, { client: clientId })}#getAccessToken">try it</a> from here,
        without a secret.
      </p>
      ${tokenSnippets({ baseUrl, clientId, clientSecret: 'YOUR_CLIENT_SECRET' })}
    </section>
    <section aria-labelledby="settings">
      <div class="bar">
        <h2 id="settings">Settings</h2>
        <div class="actions"><a href="${paths.settings(project.id, id)}">Change</a></div>
      </div>
      ${settingsList(application)}
    </section>`
  return applicationFrame(request, client, 'application', body)
}

/** The remaining part of a lifetime, from 0 to 1, as the water in a well. The text beside it says the same. */
function well(remaining: number): SafeHtml {
  const level = Math.min(Math.max(remaining, 0), 1) * 12
  return html`<svg class="well" viewBox="0 0 20 20" aria-hidden="true">
    <rect x="5" y="${16 - level}" width="10" height="${level}" />
    <path d="M4 3v13a1 1 0 0 0 1 1h10a1 1 0 0 0 1-1V3" />
  </svg>`
}

function expiry(expiresAtMs: number, nowMs: number): SafeHtml {
  return html`${expiresAtMs <= nowMs ? 'Expired' : 'Expires'} ${relativeTime(expiresAtMs, nowMs)}.`
}
