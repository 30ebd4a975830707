import { html, type SafeHtml } from '@remix-run/html-template'
import type { ApiDescription, Operation, Schema } from './api-description.ts'
import { inlineCode } from './inline-code.ts'
import { schemaTable, typeName } from './schema-table.ts'

const formType = 'application/x-www-form-urlencoded'

/** One operation: its parameters, a form that sends it, and its responses. */
export function operationSection(
  api: ApiDescription,
  path: string,
  operation: Operation,
  base: string,
): SafeHtml {
  const { operationId: id, summary, description, parameters = [], responses } = operation
  const form = operation.requestBody.content[formType]?.schema ?? {}
  const query = new URLSearchParams(parameters.map(({ name, schema }) => [name, schema.enum?.[0] ?? '']))
  const target = query.size > 0 ? `${path}?${query}` : path
  return html`<section class="card" aria-labelledby="${id}">
    <h2 id="${id}">${summary}</h2>
    <p><span class="badge">POST</span> <code>${target}</code></p>
    ${description === undefined ? '' : html`<p>${inlineCode(description)}</p>`}
    <form method="post" action="${base}${target}" data-operation="${id}" autocomplete="off">
      ${Object.entries(form.properties ?? {}).map(([name, schema]) =>
        input(id, name, schema, form.required?.includes(name) ?? false),
      )}
      <button>Send: ${summary}</button>
    </form>
    <div
      class="response"
      data-response="${id}"
      role="region"
      aria-label="Response to ${summary}"
      tabindex="-1"
      hidden
    ></div>
    <div class="responses">
      <h3>Responses</h3>
      ${Object.entries(responses).map(([status, response]) => {
        const schema = response.content?.['application/json']?.schema
        const caption = html`${status}: ${inlineCode(response.description)}`
        return schema ? schemaTable(api, schema, caption) : html`<p>${caption}</p>`
      })}
    </div>
  </section>`
}

const secretNames = ['client_secret', 'token']

function input(id: string, name: string, schema: Schema, required: boolean): SafeHtml {
  const fieldId = `${id}-${name}`
  return html`<div class="field">
    <label for="${fieldId}"><code>${name}</code> <span class="optional">${typeName(schema)}</span></label>
    ${schema.description === undefined ? '' : html`<p class="hint" id="${fieldId}-hint">${inlineCode(schema.description)}</p>`}
    <input
      id="${fieldId}"
      name="${name}"
      type="${secretNames.includes(name) ? 'password' : 'text'}"
      autocomplete="off"
      spellcheck="false"
      autocapitalize="none"
      ${required ? html`required` : ''}
      ${schema.description === undefined ? '' : html`aria-describedby="${fieldId}-hint"`}
    />
  </div>`
}
