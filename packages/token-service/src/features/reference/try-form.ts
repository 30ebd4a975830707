import { html, type SafeHtml } from '@remix-run/html-template'
import { introspectionPath, revocationPath } from '../../oauth/endpoint-paths.ts'
import { csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import { picker, type PickerOptions } from '../../portal/layout/picker.ts'
import type { Paths } from '../../portal/paths.ts'
import type { Operation } from './api-operations.ts'

/** The applications to try a request as. */
export interface Applications extends Pick<PickerOptions, 'suggestions' | 'suggestionsFrom'> {
  /** As its suggestion names it; empty: none yet. */
  readonly chosen: string
}

export interface TryFormContent {
  readonly paths: Paths
  readonly csrfToken: string
  readonly applications: Applications
}

/** What the portal sends for the developer, without a secret. */
const sent = ['client_id', 'client_secret']

/**
 * A form that sends the request of an operation as one of the developer's applications; its script shows the response
 * beside it. Without the script, the browser shows the response as a page.
 */
export function tryForm(
  { id, title, path, forms }: Operation,
  { paths, csrfToken, applications: { chosen, ...applications } }: TryFormContent,
): SafeHtml {
  const isToken = path !== introspectionPath && path !== revocationPath
  const { properties = {}, required = [] } = forms[0] ?? {}
  const names = Object.keys(properties).filter((name) => !sent.includes(name))
  const action = { [introspectionPath]: paths.tryIntrospection, [revocationPath]: paths.tryRevocation }[path]
  const about = isToken
    ? 'The token is valid for five minutes. The audit log names you.'
    : 'Of your own applications.'
  return html`<form
      class="card try"
      method="post"
      action="${action ?? paths.tryToken}"
      data-try="${id}"
      aria-labelledby="${id}-try"
    >
      <h3 id="${id}-try">Try it<span class="visually-hidden">: ${title}</span></h3>
      ${csrfInput(csrfToken)}
      ${
        isToken
          ? picker(
              { ...applications, name: 'client_id', id: `${id}-application`, label: 'As the application' },
              { ...emptyForm, values: { client_id: chosen } },
            )
          : ''
      }
      ${names.map((name) =>
        field({ name, id: `${id}-${name}`, label: name, required: required.includes(name) }, emptyForm),
      )}
      <p class="hint">${about}</p>
      <button>${title}</button>
    </form>
    <output class="response" data-response="${id}" hidden></output>`
}
