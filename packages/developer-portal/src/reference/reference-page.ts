import { html, type SafeHtml } from '@remix-run/html-template'
import { document, type Viewer } from '../components/page.ts'
import { contentPolicy } from '../components/page-headers.ts'
import { assetUrl } from '../components/static-files.ts'
import { describeForReference, type ApiDescription } from './describe-for-reference.ts'

/** Scalar sets styles on its elements; its scripts come from this site, as everywhere in the portal. */
export const referencePolicy = [
  ...contentPolicy.filter((directive) => !directive.startsWith('style-src')),
  "style-src 'self' 'unsafe-inline'",
].join('; ')

/** The API reference: Scalar shows the OpenAPI document, and sends requests. */
export function referencePage(viewer: Viewer, api: object): SafeHtml {
  const description = describeForReference(api)
  // Scalar adds the main landmark and the headings.
  const main = html`<div id="content" tabindex="-1">
    <noscript>
      <p class="notice">
        The API reference requires JavaScript. API clients can import
        <a href="${viewer.paths.root.replace(/portal$/, 'openapi.yaml')}">openapi.yaml</a>.
      </p>
    </noscript>
    ${outline(description)}
    <div
      id="reference"
      data-description="${JSON.stringify(description)}"
      data-scalar="${assetUrl(viewer.paths, 'scalar.js')}"
    ></div>
  </div>`
  return document(viewer, {
    title: 'API reference',
    main,
    styles: ['reference.css'],
    scripts: ['reference.js'],
    layout: 'reference',
  })
}

/** What the page shows until Scalar has been loaded. */
function outline({ info, paths }: ApiDescription): SafeHtml {
  return html`<main id="outline">
    <h1>${info.title}</h1>
    <ul>
      ${Object.entries(paths).map(
        ([path, { post }]) => html`<li><code>POST ${path}</code><br />${post.summary}</li>`,
      )}
    </ul>
  </main>`
}
