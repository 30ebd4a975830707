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
export function productHandlers({ storage, activity }: ServiceContext): HandlersOf<typeof catalogueRoutes> {
  return {
    async showProducts(request) {
      requireAdministrator(request)
      return { page: productsPage(request, await storage.products.list(), emptyForm) }
    },
    async changeProducts(request) {
      requireAdministrator(request)
      const { remove } = request.form
      if (typeof remove === 'string') {
        await storage.products.remove(remove)
        activity.audit({ event: 'product_removed', ...actorOf(request), detail: remove })
        return { redirectTo: request.paths.products, notice: 'product_removed' }
      }
      const parsed = parseForm(productForm, request.form)
      if (!parsed.data) {
        return { page: productsPage(request, await storage.products.list(), parsed.state), status: 422 }
      }
      await storage.products.add([parsed.data.name])
      activity.audit({ event: 'product_added', ...actorOf(request), detail: parsed.data.name })
      return { redirectTo: request.paths.products, notice: 'product_added' }
    },
  }
}
