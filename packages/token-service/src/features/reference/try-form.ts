import { html, type SafeHtml } from '@remix-run/html-template'
import { introspectionPath, revocationPath } from '../../oauth/endpoint-paths.ts'
import { choice, csrfInput, emptyForm, field } from '../../portal/layout/form.ts'
import type { Paths } from '../../portal/paths.ts'
import type { Operation } from './api-operations.ts'

/** An application to try a request as. */
export interface Client {
  readonly clientId: string
  readonly name: string
}

export interface TryFormContent {
  readonly paths: Paths
  readonly csrfToken: string
  /** The developer's applications: the first ones, and the one that the page was opened for. */
  readonly clients: readonly Client[]
  readonly chosen: string | undefined
}

/** What the portal sends for the developer, without a secret. */
const sent = ['client_id', 'client_secret']

/**
 * A form that sends the request of an operation as one of the developer's applications; its script shows the response
 * beside it. Without the script, the browser shows the response as a page.
 */
export function tryForm(
  { id, title, path, forms }: Operation,
  { paths, csrfToken, clients, chosen }: TryFormContent,
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
          ? choice(
              {
                name: 'client_id',
                label: 'As the application',
                choices: clients.map(({ clientId, name }) => [clientId, name]),
              },
              { ...emptyForm, values: { client_id: chosen ?? '' } },
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
