import { html, type SafeHtml } from '@remix-run/html-template'
import { code, inlineCode, copyable } from '../../portal/layout/copyable.ts'
import { requestSnippets } from '../../portal/layout/snippets.ts'
import { tabs } from '../../portal/layout/tabs.ts'

import type { Form, Operation, OperationResponse } from './api-operations.ts'

const placeholders: Readonly<Record<string, string>> = {
  client_id: 'YOUR_CLIENT_ID',
  client_secret: 'YOUR_CLIENT_SECRET',
  token: 'YOUR_ACCESS_TOKEN',
}

/** What an endpoint expects and returns. `tryIt`: the form that sends a request. */
export function operationSection(operation: Operation, baseUrl: string, tryIt: SafeHtml | ''): SafeHtml {
  const { id, title, description, parameters, forms, responses } = operation
  const url = baseUrl + requestPath(operation)
  const [first] = forms
  const form = Object.fromEntries(
    Object.keys(first?.properties ?? {}).flatMap((name) =>
      placeholders[name] === undefined ? [] : [[name, placeholders[name]]],
    ),
  )
  const [success, ...errors] = responses
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
    <h2 id="${id}-title">${title}</h2>
    <p class="endpoint">
      <span class="method">POST</span> ${copyable({ id: `${id}-url`, value: url, what: `URL of ${title}` })}
    </p>
    <p>${inlineCode(description)}</p>
    <div class="operation-body">
      <div>
        ${
          parameters.length === 0
            ? ''
            : html`<h3>Query</h3>
                <dl class="fields">
                  ${parameters.map(({ name, required, description: about, schema }) =>
                    fieldEntry(name, required, `${schema.description ?? ''} ${about}`),
                  )}
                </dl>`
        }
        <h3>Form</h3>
        ${tabs({
          name: `${id}-form`,
          label: `Ways to authenticate, ${title}`,
          tabs: forms.map((each, index) => ({
            id: `${id}-form-${index}`,
            label: formLabel(each),
            panel: formFields(each),
          })),
        })}
      </div>
      <div class="operation-aside">
        <h3>Request</h3>
        ${requestSnippets({ url, form }, `${id}-snippet`, ` for ${title}`)} ${tryIt}
      </div>
      <div>
        <h3>Responses</h3>
        ${success === undefined ? '' : successResponse(operation, success)}
        <div class="errors">${errors.map((error) => errorResponse(error))}</div>
      </div>
    </div>
  </section>`
}

/** The path, with the query that the document prescribes. */
function requestPath({ path, parameters }: Operation): string {
  const query = new URLSearchParams(
    parameters.map(({ name, schema }) => [name, schema.enum?.[0] ?? ''] as [string, string]),
  )
  return parameters.length === 0 ? path : `${path}?${query}`
}

function formLabel({ properties }: Form): string {
  if ('client_secret' in properties) return 'Client secret'
  if ('client_assertion' in properties) return 'Client assertion'
  return 'assertion' in properties ? 'JWT of a trusted issuer' : 'HTTP Basic'
}

function formFields({ properties, required = [] }: Form): SafeHtml {
  const names = Object.keys(properties)
  const isBasic = !names.some((name) => name.startsWith('client_') || name === 'assertion')
  return html`${isBasic ? html`<p>Client ID and client secret are sent in the header <code>Authorization</code>.</p>` : ''}
  ${
    names.length === 0
      ? ''
      : html`<dl class="fields">
          ${names.map((name) => {
            const { description = '', const: value } = properties[name] ?? {}
            return fieldEntry(name, required.includes(name), description, value)
          })}
        </dl>`
  }`
}

function fieldEntry(name: string, isRequired: boolean, description: string, value?: string): SafeHtml {
  return html`<div>
    <dt><code>${name}</code> <span class="hint">${isRequired ? 'required' : 'optional'}</span></dt>
    <dd>${inlineCode(description)} ${value === undefined ? '' : html`<code>${value}</code>`}</dd>
  </div>`
}

function successResponse(
  { id, title }: Operation,
  { status, description, examples }: OperationResponse,
): SafeHtml {
  return html`<h4><span class="status" data-variant="success">${status}</span> ${inlineCode(description)}</h4>
    ${
      examples.length === 0
        ? html`<p class="hint">The body is empty.</p>`
        : tabs({
            name: `${id}-response`,
            label: `Response of ${title}`,
            tabs: examples.map(({ summary, value }, index) => ({
              id: `${id}-response-${index}`,
              label: summary.charAt(0).toUpperCase() + summary.slice(1),
              panel: code(JSON.stringify(value, null, 2), 'json', `Response of ${title} ${summary}`),
            })),
          })
    }`
}

function errorResponse({ status, description, headers, examples }: OperationResponse): SafeHtml {
  return html`<details>
    <summary><span class="status">${status}</span><span>${inlineCode(description)}</span></summary>
    ${headers.map(([name, about]) => html`<p><code>${name}</code>: ${inlineCode(about)}</p>`)}
    ${examples.map(
      ({ summary, value }) =>
        html`<p class="hint">${summary}</p>
          ${code(JSON.stringify(value, null, 2), 'json')}`,
    )}
  </details>`
}
