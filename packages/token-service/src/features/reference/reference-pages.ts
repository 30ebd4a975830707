import { html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { apiDescription } from '../../oauth/api-description.ts'
import { copyable, inlineCode } from '../../portal/layout/copyable.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { ownerIdOf } from '../projects/own-projects.ts'
import { type DeveloperRequest, openPages, type PortalRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { type Operation, readOperations } from './api-operations.ts'
import { operationSection } from './operation-section.ts'
import { type Client, tryForm } from './try-form.ts'
import type { PortalService } from '../sessions/openid-provider.ts'

const shownClients = 50

/** The API reference, from the same document as `/openapi.yaml`. */
export async function referencePages(
  portal: FastifyInstance,
  { storage, format }: PortalService,
): Promise<void> {
  const { get } = openPages(portal)
  /** The first ones by name, after the one in the URL. */
  async function clientsOf(request: DeveloperRequest): Promise<Client[]> {
    const { client } = request.query
    const filter = { ownerId: ownerIdOf(request), status: 'approved', offset: 0 } as const
    const [first, chosen] = await Promise.all([
      storage.listings.applications({ ...filter, limit: shownClients }),
      typeof client === 'string' && client !== ''
        ? storage.listings.applications({ ...filter, limit: 1, search: client })
        : undefined,
    ])
    const all = [...(chosen?.items ?? []), ...first.items].map(({ application }) => application)
    return [...new Map(all.map(({ clientId, name }) => [clientId, { clientId, name }])).values()]
  }

  get(patterns.reference, async (request) => {
    const { developer } = request
    const { client } = request.query
    const page = referencePage(request, {
      ...readOperations(apiDescription(request.baseUrl, format)),
      clients: developer ? await clientsOf({ ...request, developer }) : [],
      chosen: typeof client === 'string' ? client : undefined,
    })
    // For those who are not logged in, it contains nothing that nobody may guess, and is compressed.
    return { page, hasSecrets: developer !== undefined }
  })
}

interface ReferenceContent {
  readonly about: string
  readonly operations: readonly Operation[]
  /** The applications that the developer may choose. */
  readonly clients: readonly Client[]
  /** The client ID of the one that the page was opened for. */
  readonly chosen: string | undefined
}

/** The API reference, from the OpenAPI document. Only developers who are logged in send requests from it. */
function referencePage(request: PortalRequest, content: ReferenceContent): PageContent {
  const { paths, baseUrl, developer } = request
  const { about, operations, clients, chosen } = content
  const basePath = new URL(baseUrl).pathname.replace(/\/$/, '')
  const logIn = `${paths.logIn}?${new URLSearchParams({ next: paths.reference })}`
  const documents = [
    ['YAML', `${basePath}/openapi.yaml`],
    ['JSON', `${basePath}/openapi.json`],
  ] as const
  const body = html`<p class="lead">${inlineCode(about)}</p>
    <dl class="pairs wide">
      <div>
        <dt>Base URL</dt>
        <dd>${copyable({ id: 'base-url', value: baseUrl, what: 'base URL' })}</dd>
      </div>
      <div>
        <dt>OpenAPI document</dt>
        <dd class="links">
          ${documents.map(([name, href]) => html`<a href="${href}" download>${name}</a> `)}
          <span class="hint">for Postman, Swagger UI and other API tools</span>
        </dd>
      </div>
    </dl>
    ${
      clients.length > 0
        ? ''
        : html`<p class="notice">
            ${developer ? html`<a href="${paths.newApplication}">Register an application</a>` : html`<a href="${logIn}">Log in</a>`}
            to send requests from this page.
          </p>`
    }
    <nav class="contents" aria-label="Endpoints">
      <ul>
        ${operations.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)}
      </ul>
    </nav>
    ${operations.map((operation) =>
      operationSection(
        operation,
        baseUrl,
        developer && clients.length > 0
          ? tryForm(operation, { paths, csrfToken: request.csrfToken, clients, chosen })
          : '',
      ),
    )}`
  return { title: 'API reference', body, scripts: ['reference.js'] }
}
