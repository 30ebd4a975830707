import { type SafeHtml, html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  changeResourceServer,
  createResourceServer,
  findResourceServer,
  removeResourceServer,
} from './acts.ts'
import type { CatalogueEntry } from '../catalogue/storage.ts'
import type { ResourceServer } from './storage.ts'
import { audienceNames } from '../applications/application-form.ts'
import { type CredentialPages, addCredentialForms } from '../credentials/credential-forms.ts'
import { type CredentialsContent, credentialsSection } from '../credentials/credentials-section.ts'
import { newSecret } from '../credentials/secret-page.ts'
import { clientIdLine, shortId } from '../../portal/layout/copyable.ts'
import { dialog } from '../../portal/layout/dialog.ts'
import {
  type FormState,
  choice,
  csrfInput,
  emptyForm,
  field,
  revisionInput,
  seenRevision,
} from '../../portal/layout/form.ts'
import { type Column, type ListState, list, listState, named, searchNames } from '../../portal/layout/list.ts'
import { dangerSection } from '../../portal/layout/menus.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { linkTo, partOf } from '../../portal/layout/paging.ts'
import { parseForm, submissionForm } from '../../portal/layout/parse-form.ts'
import { line } from '../../runtime/bounds.ts'
import { introspectionSnippets } from '../../portal/layout/snippets.ts'
import { type LastUses, absent, lastUse } from '../../portal/layout/time.ts'
import { administratorPages, type DeveloperRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { PortalError } from '../../portal/portal-error.ts'
import { checkRevision } from '../../storage/revision.ts'
import { AlreadySubmitted, createOnce } from '../../storage/submission-storage.ts'
import type { PortalService } from '../sessions/openid-provider.ts'
import { actorOf } from '../sessions/session.ts'

const serverForm = z.object({ name: line(200), audiences: audienceNames })

/** Without audiences, it may introspect every token. */
function settingsOf({ name, audiences }: z.output<typeof serverForm>) {
  return { name, ...(audiences.length > 0 && { audiences }) }
}

/** The APIs that may introspect tokens, for administrators. */
export async function resourceServerPages(
  portal: FastifyInstance,
  { storage, perform, activity, clock }: PortalService,
): Promise<void> {
  const { get, post } = administratorPages(portal)

  /** The resource server in the URL. */
  const serverOf = (request: DeveloperRequest): Promise<ResourceServer> =>
    findResourceServer(storage.resourceServers, request.params['clientId'] ?? '')

  async function list(request: DeveloperRequest, form: FormState, submissionId: string = randomUUID()) {
    const servers = await storage.resourceServers.list()
    const lastUses = await activity.lastUses(servers.map(({ id }) => id))
    const state = listState(request.query, { orders: ['name'] })
    const content = { servers, lastUses, nowMs: clock.now(), state, form, submissionId }
    return resourceServersPage(request, content)
  }

  async function show(request: DeveloperRequest) {
    const server = await serverOf(request)
    const { secrets, keys } = server
    const lastUses = await activity.lastUses([server, ...secrets, ...keys].map(({ id }) => id))
    const { audiences = [] } = server
    const scopes = (await storage.scopes.list()).filter(
      ({ audience }) => audience !== undefined && audiences.includes(audience),
    )
    const content = { server, scopes, lastUses, nowMs: clock.now(), submissionId: randomUUID() }
    return resourceServerPage(request, content)
  }

  const findPages = async (request: DeveloperRequest): Promise<CredentialPages> => {
    const { paths } = request
    const server = await serverOf(request)
    const list = paths.resourceServer(server.clientId)
    return {
      owner: { ...server, kind: 'resourceServers' },
      list,
      action: paths.resourceServerKeys(server.clientId),
      trail: [
        ['Resource servers', paths.resourceServers],
        [serverName(server), list],
      ],
      secretPage: (secret) => resourceServerSecretPage(request, { server, ...secret }),
    }
  }

  get(patterns.resourceServers, async (request) => ({ page: await list(request, emptyForm) }))

  post(patterns.resourceServers, async (request) => {
    const id = submissionForm.safeParse(request.form).data?.submission_id
    if (id === undefined) throw new PortalError('invalid_form')
    const parsed = parseForm(serverForm, request.form)
    if (!parsed.data) return { page: await list(request, parsed.state, id), status: 422 }
    try {
      const { resourceServer: server, clientSecret } = await perform(actorOf(request), (act) =>
        createOnce(act, id, () => createResourceServer(act, settingsOf(parsed.data))),
      )
      return { page: resourceServerSecretPage(request, { server, clientSecret }) }
    } catch (error) {
      // The page was reloaded: the secret was shown already.
      if (!(error instanceof AlreadySubmitted)) throw error
      return { redirectTo: request.paths.resourceServers }
    }
  })

  get(patterns.resourceServer, async (request) => ({ page: await show(request) }))

  post(patterns.resourceServer, async (request) => {
    const { clientId } = request.params
    const parsed = parseForm(serverForm, request.form)
    if (!parsed.data) throw new PortalError('invalid_form')
    const changes = { audiences: null, ...settingsOf(parsed.data) }
    await perform(actorOf(request), (act) =>
      changeResourceServer(act, clientId, changes, ({ revision }) =>
        checkRevision('The resource server', String(revision), seenRevision(request.form)),
      ),
    )
    return { redirectTo: request.paths.resourceServer(clientId), notice: 'resource_server_changed' }
  })

  post(patterns.resourceServerRemoval, async (request) => {
    await perform(actorOf(request), (act) => removeResourceServer(act, request.params.clientId))
    return { redirectTo: request.paths.resourceServers, notice: 'resource_server_removed' }
  })

  const at = {
    secrets: patterns.resourceServerSecrets,
    secretRevocation: patterns.resourceServerSecretRevocation,
    keys: patterns.resourceServerKeys,
    key: patterns.resourceServerKey,
    keyRemoval: patterns.resourceServerKeyRemoval,
  }
  addCredentialForms({ get, post }, at, { perform, clock, find: findPages })
}

interface ResourceServersContent {
  readonly servers: readonly ResourceServer[]
  readonly lastUses: LastUses
  readonly nowMs: number
  readonly state: ListState
  readonly form: FormState
  readonly submissionId: string
}

/** The APIs that may introspect tokens. */
function resourceServersPage(
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
  const actions = html`<a class="button" href="#name">Register a resource server</a>`
  return { title: 'Resource servers', body, actions }
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

function audiencesField(state: FormState): SafeHtml {
  const hint =
    'The audiences of the tokens that the API accepts, separated by spaces; all others are inactive for it. Empty: every token.'
  return field({ name: 'audiences', label: 'Audiences', hint, required: false }, state)
}

function serverName({ name, clientId }: ResourceServer): string {
  return name === '' ? clientId : name
}

function credentialCount({ secrets, keys }: ResourceServer, nowMs: number): SafeHtml | string {
  const count = (all: readonly { expiresAtMs?: number | undefined }[], noun: string) => {
    const valid = all.filter(({ expiresAtMs = Infinity }) => expiresAtMs > nowMs).length
    return valid === 0 ? [] : [`${valid} ${noun}${valid === 1 ? '' : 's'}`]
  }
  return [...count(secrets, 'secret'), ...count(keys, 'public key')].join(', ') || absent()
}

interface ResourceServerContent extends CredentialsContent {
  readonly server: ResourceServer
  /** Those that belong to it. */
  readonly scopes: readonly CatalogueEntry[]
}

/** An API that may introspect tokens: its name and its credentials. */
function resourceServerPage(request: DeveloperRequest, content: ResourceServerContent): PageContent {
  const { server } = content
  const { paths, csrfToken } = request
  const { clientId } = server
  const owner = {
    ...server,
    paths: {
      secrets: paths.resourceServerSecrets(clientId),
      keys: paths.resourceServerKeys(clientId),
      secretRevocation: (id: string) => paths.resourceServerSecretRevocation(clientId, id),
      key: (id: string) => paths.resourceServerKey(clientId, id),
      keyRemoval: (id: string) => paths.resourceServerKeyRemoval(clientId, id),
    },
    hasTokens: false,
    consequence: (credential: string) =>
      `An API that uses this ${credential} can no longer introspect tokens, and will reject every request.`,
  }
  const title = serverName(server)
  const values = { name: server.name, audiences: server.audiences?.join(' ') ?? '' }
  const change = dialog({
    id: 'change',
    label: html`Change<span class="visually-hidden"> resource server</span>`,
    title: 'Change the resource server',
    body: html`${revisionInput(String(server.revision), emptyForm)}${field(
      { name: 'name', label: 'Name of the API', pattern: String.raw`(?=.*\S).{1,200}` },
      { values, errors: {} },
    )}
    ${audiencesField({ values, errors: {} })}`,
    action: paths.resourceServer(clientId),
    confirm: 'Save resource server',
    csrfToken,
  })
  const removal = dialog({
    id: 'remove',
    label: html`Remove<span class="visually-hidden"> resource server</span>`,
    title: `Remove ${title}?`,
    body: html`<p>
      The API can no longer introspect tokens: it will reject every request. A resource server from the
      configuration is created again when the service starts.
    </p>`,
    action: paths.resourceServerRemoval(clientId),
    confirm: 'Remove resource server',
    csrfToken,
    danger: true,
  })
  const body = html`${clientIdLine(clientId)} ${credentialsSection(request, owner, content)}
  ${scopesSection(request, content)}
  ${dangerSection('Change or remove', [
    {
      title: 'Change the resource server',
      text: `Its client ID stays the same. ${server.audiences ? `It sees tokens for ${server.audiences.join(' ')} only.` : 'It may introspect every token.'}`,
      button: change,
    },
    {
      title: 'Remove the resource server',
      text: 'Its credentials become invalid at once. This cannot be undone.',
      button: removal,
    },
  ])}`
  return { title, body, trail: [['Resource servers', paths.resourceServers]] }
}

/** The scopes of the API, and a form that adds one. */
function scopesSection(
  { paths, csrfToken }: DeveloperRequest,
  { server: { audiences = [], clientId }, scopes }: ResourceServerContent,
): SafeHtml {
  const [only] = audiences
  const state = { values: { audience: only ?? '' }, errors: {} }
  return html`<section aria-labelledby="scopes">
    <h2 id="scopes">Scopes</h2>
    ${
      scopes.length === 0
        ? html`<p class="muted">No scope belongs to this API yet.</p>`
        : html`<ul class="rows">
            ${scopes.map(
              ({ name, description }) =>
                html`<li>
                  <a href="${linkTo(paths.scopes, { change: name })}#description">${name}</a>
                  ${description === undefined ? '' : html`<br /><span class="muted">${description}</span>`}
                </li>`,
            )}
          </ul>`
    }
    ${
      only === undefined
        ? html`<p class="muted">Scopes belong to an audience: change the resource server, and enter it.</p>`
        : html`<form method="post" action="${paths.scopes}" class="card form">
            <h3>Add a scope</h3>
            ${csrfInput(csrfToken)}<input type="hidden" name="from" value="${clientId}" />
            ${field({ name: 'name', id: 'scope', label: 'Name', hint: 'Without spaces, such as orders:read.' }, emptyForm)}
            ${field({ name: 'description', label: 'Description', hint: 'For those who choose it.', required: false }, emptyForm)}
            ${
              audiences.length === 1
                ? html`<input type="hidden" name="audience" value="${only}" />`
                : choice(
                    { name: 'audience', label: 'Audience', choices: audiences.map((each) => [each, each]) },
                    state,
                  )
            }
            <button>Add scope</button>
          </form>`
    }
  </section>`
}

interface ResourceServerSecretContent {
  readonly server: ResourceServer
  readonly clientSecret: string
  /** What happens to the existing secrets; `undefined` if none was valid. */
  readonly existingSecrets?: string | undefined
}

/** The only page that shows the secret of a resource server. */
function resourceServerSecretPage(
  request: DeveloperRequest,
  { server, clientSecret, existingSecrets }: ResourceServerSecretContent,
): PageContent {
  const { paths, baseUrl } = request
  const { clientId } = server
  const client = { baseUrl, clientId, clientSecret }
  const name = serverName(server)
  const body = html`${newSecret(client, existingSecrets, 'API_')}
    <section class="card" aria-labelledby="try">
      <h2 id="try">Introspect a token</h2>
      <p>Replace <code>YOUR_ACCESS_TOKEN</code> with a token that the API received.</p>
      ${introspectionSnippets(client)}
    </section>
    <p class="bar">
      <a class="button" href="${paths.resourceServer(clientId)}">Continue to the resource server</a>
      <a href="${paths.reference}">API reference</a>
    </p>`
  const title = existingSecrets === undefined ? `Secret for ${name}` : `New secret for ${name}`
  const trail = [
    ['Resource servers', paths.resourceServers],
    [name, paths.resourceServer(clientId)],
  ] as const
  return { title, body, trail }
}
