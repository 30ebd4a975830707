import { z } from 'zod'
import { productNamePattern } from '../../clients/application-options.ts'
import type { catalogueRoutes } from './catalogue-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm } from '../layout/form.ts'
import { line, parseForm } from '../layout/parse-form.ts'
import { productsPage } from './products-page.ts'
import { actorOf } from '../session/actor.ts'
import type { HandlersOf } from '../portal-request.ts'
import { requireAdministrator } from '../session/require-administrator.ts'

const productForm = z.object({
  name: line(100).regex(productNamePattern, 'Remove commas and brackets.'),
})

/** The catalogue of API products, for the administrator. */
export function productHandlers({ storage, act }: ServiceContext): HandlersOf<typeof catalogueRoutes> {
  return {
    async showProducts(request) {
      requireAdministrator(request)
      return { page: productsPage(request, await storage.products.list(), emptyForm) }
    },
    async changeProducts(request) {
      requireAdministrator(request)
      const { remove } = request.form
      if (typeof remove === 'string') {
        await act(actorOf(request), async ({ products }, audit) => {
          await products.remove(remove)
          audit('product_removed', { detail: remove })
        })
        return { redirectTo: request.paths.products, notice: 'product_removed' }
      }
      const parsed = parseForm(productForm, request.form)
      if (!parsed.data) {
        return { page: productsPage(request, await storage.products.list(), parsed.state), status: 422 }
      }
      const { name } = parsed.data
      await act(actorOf(request), async ({ products }, audit) => {
        await products.add([name])
        audit('product_added', { detail: name })
      })
      return { redirectTo: request.paths.products, notice: 'product_added' }
    },
  }
}
