import { html } from '@remix-run/html-template'
import { inlineCode, copyable } from '../layout/copyable.ts'
import type { PageContent } from '../layout/page.ts'
import type { PortalRequest } from '../portal-request.ts'
import type { Operation } from './api-operations.ts'
import { operationSection } from './operation-section.ts'
import { tryForm, type Client } from './try-form.ts'

export interface ReferenceContent {
  readonly about: string
  readonly operations: readonly Operation[]
  /** The applications that the developer may choose. */
  readonly clients: readonly Client[]
  /** The client ID of the one that the page was opened for. */
  readonly chosen: string | undefined
}

/** The API reference, from the OpenAPI document. Only developers who are logged in send requests from it. */
export function referencePage(request: PortalRequest, content: ReferenceContent): PageContent {
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
