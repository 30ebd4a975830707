import { z } from 'zod'
import { audiencePattern, productNamePattern, scopePattern } from '../../features/applications/options.ts'
import { setScope } from '../../features/catalogue/acts.ts'
import type { Scope } from '../../features/catalogue/storage.ts'
import type { catalogueRoutes } from './catalogue-routes.ts'
import type { ServiceContext } from '../../service/context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { listState } from '../layout/list.ts'
import { line, optionalLine, parseForm } from '../layout/parse-form.ts'
import { cataloguePage, type CatalogueKind } from './catalogue-page.ts'
import { actorOf, requireAdministrator } from '../session/session.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'

const productForm = z.object({ name: line(100).regex(productNamePattern, 'Remove commas and brackets.') })
const scopeForm = z.object({
  name: line(200).regex(scopePattern, 'Remove spaces, quotes and backslashes.'),
  audience: optionalLine(500).refine(
    (text) => text === '' || audiencePattern.test(text),
    'Enter a URI, or a name of ASCII characters without spaces.',
  ),
  description: optionalLine(200),
})
const nouns = { products: 'product', scopes: 'scope' } as const

/** The catalogues of API products and of scopes, for the administrator. */
export function catalogueHandlers({ storage, act }: ServiceContext): HandlersOf<typeof catalogueRoutes> {
  async function pageOf(request: DeveloperRequest, kind: CatalogueKind, form: FormState) {
    const [entries, uses] = await Promise.all([
      kind === 'scopes'
        ? storage.scopes.listScopes()
        : storage.products.list().then((all) => all.map((name): Scope => ({ name }))),
      storage.listings.catalogueUses(kind),
    ])
    const state = listState(request.query, { orders: ['name'] })
    return cataloguePage(request, { kind, entries, uses, state, form })
  }

  async function show(request: DeveloperRequest, kind: CatalogueKind) {
    requireAdministrator(request)
    return { page: await pageOf(request, kind, emptyForm) }
  }

  async function remove(request: DeveloperRequest, kind: CatalogueKind, name: string) {
    const noun = nouns[kind]
    await act(actorOf(request), async ({ [kind]: catalogue }, audit) => {
      await catalogue.remove(name)
      audit(`${noun}_removed`, { detail: name })
    })
    return { redirectTo: request.paths[kind], notice: `${noun}_removed` as const }
  }

  async function changeProducts(request: DeveloperRequest) {
    requireAdministrator(request)
    const { remove: removed } = request.form
    if (typeof removed === 'string') return remove(request, 'products', removed)
    const parsed = parseForm(productForm, request.form)
    if (!parsed.data) return { page: await pageOf(request, 'products', parsed.state), status: 422 }
    const { name } = parsed.data
    await act(actorOf(request), async ({ products }, audit) => {
      await products.add([name])
      audit('product_added', { detail: name })
    })
    return { redirectTo: request.paths.products, notice: 'product_added' as const }
  }

  async function changeScopes(request: DeveloperRequest) {
    requireAdministrator(request)
    const { remove: removed } = request.form
    if (typeof removed === 'string') return remove(request, 'scopes', removed)
    const parsed = parseForm(scopeForm, request.form)
    if (!parsed.data) return { page: await pageOf(request, 'scopes', parsed.state), status: 422 }
    const { name, audience, description } = parsed.data
    const scope = { name, ...(audience && { audience }), ...(description && { description }) }
    const notice = await act(actorOf(request), (stored, audit) => setScope(scope, stored, audit))
    return { redirectTo: request.paths.scopes, notice }
  }

  return {
    showProducts: (request) => show(request, 'products'),
    changeProducts,
    showScopes: (request) => show(request, 'scopes'),
    changeScopes,
  }
}
