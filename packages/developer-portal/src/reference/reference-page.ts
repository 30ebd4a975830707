import { html, type SafeHtml } from '@remix-run/html-template'
import { document, type Viewer } from '../components/page.ts'
import { contentPolicy } from '../components/page-headers.ts'
import { describeForReference } from './describe-for-reference.ts'

/** Scalar sets styles on its elements; its scripts come from this site, as everywhere in the portal. */
export const referencePolicy = [
  ...contentPolicy.filter((directive) => !directive.startsWith('style-src')),
  "style-src 'self' 'unsafe-inline'",
].join('; ')

/** The API reference: Scalar shows the OpenAPI document, and sends requests. */
export function referencePage(viewer: Viewer, description: object): SafeHtml {
  // Scalar adds the main landmark and the headings.
  const main = html`<div id="content" tabindex="-1">
    <noscript>
      <p class="notice">
        The reference needs JavaScript. API clients can import
        <a href="${viewer.paths.root.replace(/portal$/, 'openapi.yaml')}">openapi.yaml</a>.
      </p>
    </noscript>
    <div id="reference" data-description="${JSON.stringify(describeForReference(description))}"></div>
  </div>`
  return document(viewer, {
    title: 'API reference',
    main,
    styles: ['reference.css'],
    scripts: ['scalar.js', 'reference.js'],
    layout: 'reference',
  })
}
