import { html, type SafeHtml } from '@remix-run/html-template'
import type { ResourceServer } from '../../storage/storage.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { absent, lastUse, type LastUses } from '../layout/time.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface ResourceServersContent {
  readonly servers: readonly ResourceServer[]
  readonly lastUses: LastUses
  readonly nowMs: number
  readonly state: FormState
  /** The ID of a new resource server. */
  readonly submissionId: string
}

/** The APIs that may introspect tokens. */
export function resourceServersPage(
  request: DeveloperRequest,
  { servers, lastUses, nowMs, state, submissionId }: ResourceServersContent,
): PageContent {
  const { paths, csrfToken } = request
  const body = html`<p class="lead">
      APIs that receive tokens use their own credentials to check with this service whether a token is valid.
    </p>
    ${
      servers.length === 0
        ? html`<div class="card empty">
            <h2>No resource servers yet</h2>
            <p class="muted">Register an API to let it check the tokens that it receives.</p>
          </div>`
        : html`<table class="stacked">
            <thead>
              <tr>
                <th scope="col">API</th>
                <th scope="col">Client ID</th>
                <th scope="col">Credentials</th>
                <th scope="col">Last used</th>
              </tr>
            </thead>
            <tbody>
              ${servers.map(
                (server) =>
                  html`<tr>
                    <td data-label="API">
                      <a href="${paths.resourceServer(server.clientId)}"
                        ><strong>${serverName(server)}</strong></a
                      >
                    </td>
                    <td data-label="Client ID"><code>${server.clientId}</code></td>
                    <td data-label="Credentials">${credentialCount(server, nowMs)}</td>
                    <td data-label="Last used">${lastUse(server.id, lastUses, nowMs)}</td>
                  </tr>`,
              )}
            </tbody>
          </table>`
    }
    <form method="post" action="${paths.resourceServers}" class="card form">
      <h2>Register a resource server</h2>
      ${csrfInput(csrfToken)}<input type="hidden" name="submission_id" value="${submissionId}" />
      ${field({ name: 'name', label: 'Name of the API' }, state)}
      <button>Register</button>
    </form>`
  return { title: 'Resource servers', body }
}

export function serverName({ name, clientId }: ResourceServer): string {
  return name === '' ? clientId : name
}

function credentialCount({ secrets, keys }: ResourceServer, nowMs: number): SafeHtml | string {
  const count = (all: readonly { expiresAtMs?: number | undefined }[], noun: string) => {
    const valid = all.filter(({ expiresAtMs = Infinity }) => expiresAtMs > nowMs).length
    return valid === 0 ? [] : [`${valid} ${noun}${valid === 1 ? '' : 's'}`]
  }
  return [...count(secrets, 'secret'), ...count(keys, 'public key')].join(', ') || absent()
}
