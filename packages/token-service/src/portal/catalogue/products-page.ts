import { html, type SafeHtml } from '@remix-run/html-template'
import { dialog } from '../layout/dialog.ts'
import { csrfInput, field, type FormState } from '../layout/form.ts'
import { page } from '../layout/page.ts'
import type { DeveloperRequest } from '../portal-request.ts'

export function productsPage(
  request: DeveloperRequest,
  products: readonly string[],
  state: FormState,
): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<p class="lead">
      Developers choose from these products when they register an application.
    </p>
    <div class="card ${products.length === 0 ? 'empty' : ''}">
      ${
        products.length === 0
          ? html`<h2>No products yet</h2>
              <p class="muted">Add the first one below.</p>`
          : html`<ul class="rows">
              ${products.map(
                (product, index) =>
                  html`<li class="bar">
                    <p>${product}</p>
                    <div class="actions">
                      ${dialog({
                        id: `remove-${index}`,
                        label: html`Remove<span class="visually-hidden"> ${product}</span>`,
                        style: 'outline small',
                        title: `Remove ${product} from the catalogue?`,
                        body: html`<input type="hidden" name="remove" value="${product}" />
                          <p>
                            Developers can no longer choose it. Applications that have the product keep it.
                          </p>`,
                        action: paths.products,
                        confirm: 'Remove product',
                        csrfToken,
                        danger: true,
                      })}
                    </div>
                  </li>`,
              )}
            </ul>`
      }
    </div>
    <form method="post" action="${paths.products}" class="card form">
      <h2>Add a product</h2>
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Product name' }, state)}
      <button>Add product</button>
    </form>`
  return page(request, { title: 'API products', body })
}
