import { html, type SafeHtml } from '@remix-run/html-template'
import { emptyForm, field } from '../layout/form.ts'
import { requestPath } from './operation-section.ts'
import type { Operation } from './api-operations.ts'

/** A client to choose for the field `client_id`. */
export interface Client {
  readonly clientId: string
  readonly name: string
}

/**
 * A form that sends the request of an operation from the page; its script shows the response beside it. Without the
 * script, the browser shows the response as a page.
 *
 * @param basePath the path of the service's URL
 */
export function tryForm(
  operation: Operation,
  { basePath, clients }: { readonly basePath: string; readonly clients: readonly Client[] },
): SafeHtml {
  const { id, title, forms } = operation
  const list = `${id}-clients`
  const { properties = {}, required = [] } = forms[0] ?? {}
  const names = Object.keys(properties)
  return html`<form
      class="card try"
      method="post"
      action="${basePath}${requestPath(operation)}"
      data-try="${id}"
      aria-labelledby="${id}-try"
    >
      <h3 id="${id}-try">Try it<span class="visually-hidden">: ${title}</span></h3>
      ${names.map((name) =>
        field(
          {
            name,
            id: `${id}-${name}`,
            label: name,
            required: required.includes(name),
            type: name === 'client_secret' ? 'password' : 'text',
            ...(name === 'client_id' && clients.length > 0 && { list }),
          },
          emptyForm,
        ),
      )}
      <datalist id="${list}">
        ${clients.map(({ clientId, name }) => html`<option value="${clientId}">${name}</option>`)}
      </datalist>
      <button>${title}</button>
    </form>
    <output class="response" data-response="${id}" hidden></output>`
}
