import { html } from '@remix-run/html-template'
import type { FastifyInstance } from 'fastify'
import { apiDescription } from '../../oauth/api-description.ts'
import { copyable, inlineCode } from '../../portal/layout/copyable.ts'
import type { PageContent } from '../../portal/layout/page.ts'
import { type DeveloperRequest, isLoggedIn, openPages, type PortalRequest } from '../../portal/page-routes.ts'
import { patterns } from '../../portal/paths.ts'
import { type Operation, readOperations } from './api-operations.ts'
import { operationSection } from './operation-section.ts'
import { pickerOf, readChoice } from '../search/choices.ts'
import { type Applications, tryForm } from './try-form.ts'
import type { PortalService } from '../sessions/openid-provider.ts'

/** The API reference, from the same document as `/openapi.yaml`. */
export async function referencePages(
  portal: FastifyInstance,
  { storage, format }: PortalService,
): Promise<void> {
  const { get } = openPages(portal)
  /** The applications to try requests as: the one in the URL is chosen, or the only one. */
  async function applicationsOf(request: DeveloperRequest): Promise<Applications | undefined> {
    const { client } = request.query
    const picked = await pickerOf(storage, request, 'applications')
    const [first, ...others] = picked.suggestions
    if (first === undefined) return undefined
    const chosen = await readChoice(storage, request, 'applications', client)
    return { ...picked, chosen: 'text' in chosen ? chosen.text : others.length === 0 ? first.text : '' }
  }

  get(
    patterns.reference,
    async (request) => {
      const description = () => readOperations(apiDescription(request.baseUrl, format))
      if (!isLoggedIn(request))
        return { shared: () => referencePage(request, { ...description(), applications: undefined }) }
      const applications = await applicationsOf(request)
      return { page: referencePage(request, { ...description(), applications }) }
    },
    true,
  )
}

interface ReferenceContent {
  readonly about: string
  readonly operations: readonly Operation[]
  /** Those that the developer may choose, if there are any. */
  readonly applications: Applications | undefined
}

/** The API reference, from the OpenAPI document. Only developers who are logged in send requests from it. */
function referencePage(request: PortalRequest, content: ReferenceContent): PageContent {
  const { paths, baseUrl, developer } = request
  const { about, operations, applications } = content
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
      applications
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
        applications ? tryForm(operation, { paths, csrfToken: request.csrfToken, applications }) : '',
      ),
    )}`
  return { title: 'API reference', body, scripts: ['reference.js'] }
}
