import { z } from 'zod'
import { productNamePattern } from '../../registry/application-options.ts'
import type { ServiceContext } from '../../service/service-context.ts'
import { emptyForm } from '../components/form.ts'
import { line, parseForm } from '../forms/parse-form.ts'
import { productsPage } from '../pages/products-page.ts'
import { actorOf } from '../request/actor.ts'
import type { DeveloperHandler } from '../request/portal-request.ts'
import { requireAdministrator } from './require-administrator.ts'

const productForm = z.object({
  name: line(100).regex(productNamePattern, 'Remove commas and brackets.'),
})

/** The catalogue of API products, for the administrator. */
export function productHandlers({ storage, activity }: ServiceContext) {
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
  } satisfies Record<string, DeveloperHandler>
}
