import { html, type SafeHtml } from '@remix-run/html-template'
import type { ResourceServer, ResourceServerSecret } from '@tokenwell/token-service/plugin'
import { copyable } from '../components/copyable.ts'
import { credentialsTable, secretRevocation, type Credential } from '../components/credentials-table.ts'
import { dialog } from '../components/dialog.ts'
import { choice, csrfInput, field, type FormState } from '../components/form.ts'
import { page } from '../components/page.ts'
import { finiteOverlaps } from '../forms/secret-overlaps.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'

export interface ResourceServersContent {
  readonly servers: readonly ResourceServer[]
  readonly state: FormState
  readonly nowMs: number
  /** Shown once. */
  readonly newSecret?: { readonly clientId: string; readonly clientSecret: string } | undefined
}

/** The APIs that may introspect tokens. */
export function resourceServersPage(request: DeveloperRequest, content: ResourceServersContent): SafeHtml {
  const { servers, state, newSecret } = content
  const { paths, csrfToken } = request
  const body = html`<p class="lead">
      APIs that receive tokens use their own credentials to check with this service whether a token is valid.
    </p>
    ${
      newSecret
        ? html`<section class="notice" data-variant="warning" aria-labelledby="secret">
            <h2 id="secret">Copy the secret now</h2>
            <p>It is not shown again, because only its hash is stored.</p>
            <dl class="pairs credentials">
              <div>
                <dt>Client ID</dt>
                <dd>${copyable({ id: 'client-id', value: newSecret.clientId, what: 'client ID' })}</dd>
              </div>
              <div>
                <dt>Client secret</dt>
                <dd>
                  ${copyable({ id: 'client-secret', value: newSecret.clientSecret, what: 'client secret' })}
                </dd>
              </div>
            </dl>
          </section>`
        : ''
    }
    ${servers.map((server) => serverCard(request, content, server))}
    <form method="post" action="${paths.resourceServers}" class="card form">
      <h2>Register a resource server</h2>
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Name of the API' }, state)}
      <button>Register</button>
    </form>`
  return page(request, { title: 'Resource servers', body })
}

function serverCard(
  request: DeveloperRequest,
  content: ResourceServersContent,
  server: ResourceServer,
): SafeHtml {
  const { paths, csrfToken } = request
  const { clientId, name, createdAtMs, secrets, keys } = server
  const title = name === '' ? clientId : name
  return html`<section class="card" aria-labelledby="server-${clientId}">
    <div class="title">
      <h2 id="server-${clientId}">${title}</h2>
      <div class="actions">
        ${dialog({
          id: `rotate-${clientId}`,
          label: html`Rotate secret<span class="visually-hidden"> of ${title}</span>`,
          title: `Rotate the secret of ${title}`,
          body: html`<p>
              A new secret is created and shown once. The existing secrets stay valid while you deploy it.
            </p>
            ${choice(
              {
                name: 'overlap',
                label: 'Existing secrets expire',
                choices: finiteOverlaps.map(([value, text]) => [value, text]),
              },
              { values: { overlap: 'day' }, errors: {} },
            )}`,
          action: paths.resourceServerSecrets(clientId),
          confirm: 'Create a new secret',
          csrfToken,
        })}
        ${dialog({
          id: `remove-${clientId}`,
          label: html`Remove<span class="visually-hidden"> ${title}</span>`,
          title: `Remove ${title}?`,
          body: html`<p>
            The API can no longer introspect tokens: it will reject every request. A resource server from the
            configuration is created again when the service starts.
          </p>`,
          action: paths.resourceServer(clientId),
          confirm: 'Remove resource server',
          csrfToken,
          danger: true,
        })}
      </div>
    </div>
    ${credentialsTable(
      [
        { kind: 'Client ID', value: html`<code>${clientId}</code>`, createdAtMs },
        ...secrets.map((secret) => secretCredential(request, clientId, secret)),
        ...keys.map((key): Credential => ({
          kind: 'Public key',
          value: html`<code>${key.name}</code>`,
          createdAtMs: key.createdAtMs,
        })),
      ],
      content.nowMs,
    )}
  </section>`
}

function secretCredential(
  request: DeveloperRequest,
  clientId: string,
  secret: ResourceServerSecret,
): Credential {
  const { id, prefix, createdAtMs, expiresAtMs } = secret
  const consequences = html`<p>
    An API that uses this secret can no longer introspect tokens. This cannot be undone.
  </p>`
  const path = request.paths.resourceServerSecretRevocation(clientId, id)
  const action = secretRevocation(request, secret, path, consequences)
  return { kind: 'Client secret', value: html`<code>${prefix}…</code>`, createdAtMs, expiresAtMs, action }
}
