import { html, type SafeHtml } from '@remix-run/html-template'
import { csrfInput, errorSummary, field, type FormState } from '../components/form.ts'
import { page } from '../components/page.ts'
import type { DeveloperRequest } from '../request/portal-request.ts'

export function productsPage(
  request: DeveloperRequest,
  products: readonly string[],
  state: FormState,
): SafeHtml {
  const { paths, csrfToken } = request
  const body = html`<div class="narrow">
    <p class="lead">
      Developers choose from these API products when they register an application. An application that has a
      product keeps it when the product is removed here.
    </p>
    ${
      products.length === 0
        ? html`<p>There are no products yet.</p>`
        : html`<ul class="rows card">
            ${products.map(
              (product) =>
                html`<li class="row">
                  <form method="post" action="${paths.products}" class="row-title">
                    ${csrfInput(csrfToken)}<input type="hidden" name="remove" value="${product}" />
                    ${product}
                    <button class="quiet">Remove<span class="visually-hidden"> ${product}</span></button>
                  </form>
                </li>`,
            )}
          </ul>`
    }
    ${errorSummary(state)}
    <form method="post" action="${paths.products}" class="card">
      ${csrfInput(csrfToken)} ${field({ name: 'name', label: 'Product name' }, state)}
      <button>Add product</button>
    </form>
  </div>`
  return page(request, { title: 'API products', body })
}
