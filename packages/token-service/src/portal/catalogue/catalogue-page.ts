import { html } from '@remix-run/html-template'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import type { PageContent } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export type CatalogueKind = 'products' | 'scopes'

const texts = {
  products: { title: 'API products', plural: 'products', noun: 'product', label: 'Name', hint: undefined },
  scopes: {
    title: 'Scopes',
    plural: 'scopes',
    noun: 'scope',
    label: 'Name',
    hint: 'Without spaces, such as orders:read.',
  },
}

export function cataloguePage(
  request: DeveloperRequest,
  kind: CatalogueKind,
  names: readonly string[],
  state: FormState,
): PageContent {
  const { paths, csrfToken } = request
  const { title, plural, noun, label, hint } = texts[kind]
  const body = html`<p class="lead">
      Developers choose from these ${plural} when they register an application.
    </p>
    ${
      names.length === 0
        ? html`<p class="lead">There are no ${plural} yet.</p>`
        : html`<ul class="rows">
            ${names.map(
              (name, index) =>
                html`<li class="bar">
                  <p>${name}</p>
                  <div class="actions">
                    ${dialog({
                      id: `remove-${index}`,
                      label: html`Remove<span class="visually-hidden"> ${name}</span>`,
                      style: 'ghost small',
                      title: `Remove ${name} from the catalogue?`,
                      body: html`<input type="hidden" name="remove" value="${name}" />
                        <p>
                          Developers can no longer choose it. Applications that have the ${noun} keep it.
                        </p>`,
                      action: paths[kind],
                      confirm: `Remove ${noun}`,
                      csrfToken,
                      danger: true,
                    })}
                  </div>
                </li>`,
            )}
          </ul>`
    }
    <form method="post" action="${paths[kind]}" class="card form">
      <h2>Add a ${noun}</h2>
      ${csrfInput(csrfToken)} ${field({ name: 'name', label, hint }, state)}
      <button>Add ${noun}</button>
    </form>`
  return { title, body }
}
