import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient } from '../../storage/application.ts'
import { lastUse, type LastUses, duration, relativeTime } from '../layout/time.ts'
import { well } from '../layout/well.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { applicationFrame } from './application-frame.ts'
import { settingsList } from './settings-list.ts'
import { usageChart } from './usage-chart.ts'
import type { Usage } from './usage.ts'

export interface ApplicationContent {
  readonly client: RegisteredClient
  readonly usage: Usage
  readonly lastUses: LastUses
  readonly nowMs: number
}

/** The overview of an application: is it working, and with which settings. */
export function applicationPage(request: DeveloperRequest, content: ApplicationContent): SafeHtml {
  const { client, usage, lastUses, nowMs } = content
  const { application, project } = client
  const { id, lifetimeSeconds } = application
  const { paths } = request
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
              ${latestToken(usedAtMs, lifetimeSeconds * 1000, nowMs)} Requested
              ${lastUse(id, lastUses, nowMs)}.
            </p>`
      }
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

function latestToken(usedAtMs: number, lifetimeMs: number, nowMs: number): SafeHtml {
  const expiresAtMs = usedAtMs + lifetimeMs
  const isExpired = expiresAtMs <= nowMs
  return html`${well((expiresAtMs - nowMs) / lifetimeMs)} ${isExpired ? 'Expired' : 'Expires'}
  ${relativeTime(expiresAtMs, nowMs)}${isExpired ? '' : html` of ${duration(lifetimeMs / 1000)}`}.`
}
