import { html } from '@remix-run/html-template'
import type { ResourceServer } from '../../features/resource-servers/storage.ts'
import { credentialsSection, type CredentialsContent } from '../secrets/credentials-section.ts'
import { dangerSection } from '../layout/menus.ts'
import { clientIdLine } from '../layout/copyable.ts'
import { dialog } from '../layout/dialog.ts'
import { field } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { audiencesField, serverName } from './resource-servers-page.ts'
import { newSecret } from '../secrets/secret-page.ts'
import { introspectionSnippets } from '../layout/snippets.ts'

export interface ResourceServerContent extends CredentialsContent {
  readonly server: ResourceServer
}

/** An API that may introspect tokens: its name and its credentials. */
export function resourceServerPage(request: DeveloperRequest, content: ResourceServerContent): PageContent {
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
    consequence: (credential: string) =>
      `An API that uses this ${credential} can no longer introspect tokens, and will reject every request.`,
  }
  const title = serverName(server)
  const values = { name: server.name, audiences: server.audiences?.join(' ') ?? '' }
  const change = dialog({
    id: 'change',
    label: html`Change<span class="visually-hidden"> resource server</span>`,
    title: 'Change the resource server',
    body: html`${field(
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

export interface ResourceServerSecretContent {
  readonly server: ResourceServer
  readonly clientSecret: string
  /** What happens to the existing secrets; `undefined` if none was valid. */
  readonly existingSecrets?: string | undefined
}

/** The only page that shows the secret of a resource server. */
export function resourceServerSecretPage(
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
