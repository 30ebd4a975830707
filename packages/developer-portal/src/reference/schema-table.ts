import { html, type SafeHtml } from '@remix-run/html-template'
import { alternatives, type ApiDescription, type Schema } from './api-description.ts'
import { inlineCode } from './inline-code.ts'

/** The fields of a response; fields that only some of its forms have are marked. */
export function schemaTable(api: ApiDescription, schema: Schema, caption: SafeHtml): SafeHtml {
  const forms = alternatives(api, schema)
  const fields = new Map<string, { schema: Schema; count: number }>()
  for (const form of forms) {
    for (const [name, field] of Object.entries(form.properties ?? {})) {
      fields.set(name, { schema: field, count: (fields.get(name)?.count ?? 0) + 1 })
    }
  }
  const rows = Array.from(
    fields,
    ([name, { schema: field, count }]) =>
      html`<li class="row">
        <p class="row-title">
          <code>${name}</code>
          <span class="optional">${typeName(field)}${count < forms.length ? ', in some responses' : ''}</span>
        </p>
        ${field.description === undefined ? '' : html`<p class="hint">${inlineCode(field.description)}</p>`}
      </li>`,
  )
  return html`<details>
    <summary>${caption}</summary>
    <ul class="rows tight">
      ${rows}
    </ul>
  </details>`
}

export function typeName({ type, const: only, enum: values, items }: Schema): string {
  if (only !== undefined) return `always ${JSON.stringify(only)}`
  if (values) return values.map((value) => JSON.stringify(value)).join(' or ')
  if (items) return `list of ${typeName(items)}`
  return type ?? 'anything'
}
