import { html, type SafeHtml } from '@remix-run/html-template'
import type { ResourceServer } from '../../features/resource-servers/storage.ts'
import { shortId } from '../layout/copyable.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { list, named, searchNames, type Column, type ListState } from '../layout/list.ts'
import { partOf } from '../layout/paging.ts'
import { absent, lastUse, type LastUses } from '../layout/time.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export interface ResourceServersContent {
  readonly servers: readonly ResourceServer[]
  readonly lastUses: LastUses
  readonly nowMs: number
  readonly state: ListState
  readonly form: FormState
  /** The ID of a new resource server. */
  readonly submissionId: string
}

/** The APIs that may introspect tokens. */
export function resourceServersPage(
  request: DeveloperRequest,
  { servers, lastUses, nowMs, state, form, submissionId }: ResourceServersContent,
): PageContent {
  const { paths, csrfToken } = request
  const found = searchNames(servers, state.search, (server) => [serverName(server), server.clientId])
  const body = html`<p class="lead">
      APIs that receive tokens use their own credentials to check with this service whether a token is valid.
    </p>
    ${list(columns(request, lastUses, nowMs), partOf(found, state), {
      label: 'Resource servers',
      browsing: {
        path: paths.resourceServers,
        state,
        total: found.length,
        noun: 'resource servers',
        search: 'Name or client ID',
      },
      empty: html`<div class="empty">
        <h2>No resource servers yet</h2>
        <p class="muted">Register an API to let it check the tokens that it receives.</p>
      </div>`,
    })}
    <form method="post" action="${paths.resourceServers}" class="card form">
      <h2>Register a resource server</h2>
      ${csrfInput(csrfToken)}<input type="hidden" name="submission_id" value="${submissionId}" />
      ${field({ name: 'name', label: 'Name of the API' }, form)} ${audiencesField(form)}
      <button>Register</button>
    </form>`
  return { title: 'Resource servers', body }
}

function columns(
  { paths }: DeveloperRequest,
  lastUses: LastUses,
  nowMs: number,
): readonly Column<ResourceServer>[] {
  return [
    {
      label: 'API',
      kind: 'name',
      cell: (server) => named({ name: serverName(server), href: paths.resourceServer(server.clientId) }),
    },
    {
      label: 'Client ID',
      kind: 'id',
      leaves: 3,
      cell: (server) =>
        shortId(`client-id-${server.id}`, server.clientId, `client ID of ${serverName(server)}`),
    },
    {
      label: 'Credentials',
      kind: 'text',
      leaves: 2,
      cell: (server) => credentialCount(server, nowMs),
    },
    { label: 'Last used', kind: 'time', cell: ({ id }) => lastUse(id, lastUses, nowMs) },
  ]
}

export function audiencesField(state: FormState): SafeHtml {
  const hint =
    'The audiences of the tokens that the API accepts, separated by spaces; all others are inactive for it. Empty: every token.'
  return field({ name: 'audiences', label: 'Audiences', hint, required: false }, state)
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
