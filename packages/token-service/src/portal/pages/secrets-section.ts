import { html, type SafeHtml } from '@remix-run/html-template'
import type { RegisteredClient, StoredSecret } from '../../applications/application.ts'
import type { DeveloperExchange } from '../exchange.ts'
import { overlaps } from '../overlaps.ts'
import { secretName } from '../page/client-summary.ts'
import { choice, formToken } from '../page/form.ts'
import { time } from '../page/time.ts'

export interface SecretsContent {
  readonly client: RegisteredClient
  readonly nowMs: number
  /** The id of the secret that the form makes. */
  readonly once: string
}

/** What there is of an application's secrets: revoke one, or rotate. */
export function secretsSection(exchange: DeveloperExchange, content: SecretsContent): SafeHtml {
  const { client, once } = content
  const { application, project } = client
  const state = { values: { overlap: 'day' }, mistakes: {} }
  return html`<section class="card" aria-labelledby="secrets">
    <h2 id="secrets">Client secrets</h2>
    ${
      client.secrets.length === 0
        ? html`<p>None: the application cannot get tokens. Make a new one.</p>`
        : html`<ul class="rows">
            ${client.secrets.map((secret) => secretRow(exchange, content, secret))}
          </ul>`
    }
    <form method="post" action="${exchange.paths.rotation(project.id, application.id)}" class="inset">
      <h3>Rotate</h3>
      <p class="hint">
        Makes a new secret beside those there are, so that nothing stops while you put it in place.
      </p>
      ${formToken(exchange.visit)}
      <input type="hidden" name="once" value="${once}" />
      ${choice({ name: 'overlap', label: 'The older secrets end', choices: overlaps.map(([value, text]) => [value, text]) }, state)}
      <button>Make a new secret</button>
    </form>
  </section>`
}

function secretRow(
  { paths, visit }: DeveloperExchange,
  { client: { application, project }, nowMs }: SecretsContent,
  secret: StoredSecret,
): SafeHtml {
  const { id, createdAtMs, lastUsedAtMs, expiresAtMs } = secret
  const isOver = expiresAtMs !== undefined && expiresAtMs <= nowMs
  return html`<li class="row">
    <p class="row-title">
      ${secretName(secret)} ${isOver ? html`<span class="badge revoked">ended</span>` : ''}
    </p>
    <dl class="pairs">
      <div>
        <dt>Made</dt>
        <dd>${time(createdAtMs)}</dd>
      </div>
      <div>
        <dt>Last used</dt>
        <dd>${lastUsedAtMs === undefined ? 'never' : time(lastUsedAtMs)}</dd>
      </div>
      <div>
        <dt>${isOver ? 'Ended' : 'Ends'}</dt>
        <dd>${expiresAtMs === undefined ? 'never' : time(expiresAtMs)}</dd>
      </div>
    </dl>
    <details>
      <summary>Revoke <span class="visually-hidden">the secret ${secret.prefix}…</span></summary>
      <p>
        Who still uses this secret gets no token from the next request on. Tokens that were issued live out
        their time.
      </p>
      <form method="post" action="${paths.revocation(project.id, application.id, id)}">
        ${formToken(visit)}<button class="danger">Revoke this secret</button>
      </form>
    </details>
  </li>`
}
