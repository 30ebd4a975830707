import { html, type SafeHtml } from '@remix-run/html-template'
import { page } from '../components/page.ts'
import type { Paths } from '../request/routes.ts'
import type { ApiDescription } from './api-description.ts'
import { operationSection } from './operation-section.ts'

/** The API reference, generated from the OpenAPI document. */
export function referencePage(description: object, paths: Paths): SafeHtml {
  const api = description as ApiDescription
  const base = paths.reference.slice(0, -'/reference'.length)
  const operations = Object.entries(api.paths)
  const body = html` <p class="lead">
      ${api.info.description} The forms below send real requests to <code>${api.servers[0]?.url}</code>. What
      you type stays in this page. API clients can import <a href="${base}/openapi.yaml">openapi.yaml</a>.
    </p>
    <nav aria-label="Requests">
      <ul class="jump">
        ${operations.map(([, { post }]) => html`<li><a href="#${post.operationId}">${post.summary}</a></li>`)}
      </ul>
    </nav>
    ${operations.map(([path, { post }]) => operationSection(api, path, post, base))}`
  return page({ paths }, { title: 'API reference', body, scripts: ['reference.js'] })
}
