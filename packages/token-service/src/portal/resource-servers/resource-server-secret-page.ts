import { html, type SafeHtml } from '@remix-run/html-template'
import type { ResourceServer } from '../../storage/resource-server.ts'
import { newSecret } from '../secrets/new-secret.ts'
import { page } from '../layout/page.ts'
import { introspectionSnippets } from '../snippets/client-snippets.ts'
import { snippetTabs } from '../snippets/snippet-tabs.ts'
import type { DeveloperRequest } from '../portal-request.ts'
import { serverName } from './resource-servers-page.ts'

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
): SafeHtml {
  const { paths, baseUrl } = request
  const { clientId } = server
  const client = { baseUrl, clientId, clientSecret }
  const name = serverName(server)
  const body = html`${newSecret(client, existingSecrets)}
    <section class="card" aria-labelledby="try">
      <h2 id="try">Introspect a token</h2>
      <p>Replace <code>YOUR_ACCESS_TOKEN</code> with a token that the API received.</p>
      ${snippetTabs(introspectionSnippets(client))}
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
  return page(request, { title, body, trail })
}
