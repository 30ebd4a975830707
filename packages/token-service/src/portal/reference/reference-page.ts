import { html, type SafeHtml } from '@remix-run/html-template'
import { apiDescription } from '../../openapi/api-description.ts'
import type { ErrorShape } from '../../protocol/protocol-error.ts'
import { document } from '../layout/page.ts'
import { contentPolicy } from '../layout/page-headers.ts'
import { assetUrl, builtFile } from '../static-files.ts'
import type { PortalRequest } from '../portal-request.ts'
import { describeForReference, placeholderUrl, scalarOptions } from './describe-for-reference.ts'

/** Scalar sets styles on its elements; its scripts come from this site, as everywhere in the portal. */
export const referencePolicy = [
  ...contentPolicy.filter((directive) => !directive.startsWith('style-src')),
  "style-src 'self' 'unsafe-inline'",
].join('; ')

/** The API reference: the page that Scalar has rendered when the portal was built, and what Scalar needs to take over. */
export function referencePage(request: PortalRequest, errors: ErrorShape): SafeHtml {
  const { paths, baseUrl } = request
  const configuration = { ...scalarOptions, content: describeForReference(apiDescription(baseUrl, errors)) }
  const rendered = builtFile('reference.html').replaceAll(placeholderUrl, String(html`${baseUrl}`))
  // Scalar adds the main landmark and the headings.
  const main = html`<div id="content" tabindex="-1">
    <div
      id="reference"
      data-configuration="${JSON.stringify(configuration)}"
      data-scalar="${assetUrl(paths, 'scalar.js')}"
      data-styles="${assetUrl(paths, 'scalar.css')}"
    >
      ${html.raw`${rendered}`}
    </div>
  </div>`
  return document(request, {
    title: 'API reference',
    main,
    styles: ['scalar-rendered.css', 'reference.css'],
    scripts: ['reference.js'],
    layout: 'reference',
  })
}
