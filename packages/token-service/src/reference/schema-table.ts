import { html, type SafeHtml } from '@remix-run/html-template'
import { alternatives, type DescribedApi, type DescribedSchema } from './described-api.ts'
import { described } from './described-text.ts'

/** The fields of an answer; where it has several forms, a field of only some of them says so. */
export function schemaTable(api: DescribedApi, schema: DescribedSchema, caption: SafeHtml): SafeHtml {
  const forms = alternatives(api, schema)
  const fields = new Map<string, { schema: DescribedSchema; count: number }>()
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
          <span class="optional">${typeName(field)}${count < forms.length ? ', in some answers' : ''}</span>
        </p>
        ${field.description === undefined ? '' : html`<p class="hint">${described(field.description)}</p>`}
      </li>`,
  )
  return html`<details>
    <summary>${caption}</summary>
    <ul class="rows tight">
      ${rows}
    </ul>
  </details>`
}

export function typeName({ type, const: only, enum: values, items }: DescribedSchema): string {
  if (only !== undefined) return `always ${JSON.stringify(only)}`
  if (values) return values.map((value) => JSON.stringify(value)).join(' or ')
  if (items) return `list of ${typeName(items)}`
  return type ?? 'anything'
}
