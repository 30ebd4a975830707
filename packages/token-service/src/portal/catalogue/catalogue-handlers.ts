import { z } from 'zod'
import { productNamePattern, scopePattern } from '../../features/applications/options.ts'
import type { catalogueRoutes } from './catalogue-routes.ts'
import type { ServiceContext } from '../../oauth/service-context.ts'
import { emptyForm, type FormState } from '../layout/form.ts'
import { listState } from '../layout/list.ts'
import { line, parseForm } from '../layout/parse-form.ts'
import { cataloguePage, type CatalogueKind } from './catalogue-page.ts'
import { actorOf, requireAdministrator } from '../session/session.ts'
import type { DeveloperRequest, HandlersOf } from '../portal-request.ts'

const forms = {
  products: z.object({ name: line(100).regex(productNamePattern, 'Remove commas and brackets.') }),
  scopes: z.object({ name: line(200).regex(scopePattern, 'Remove spaces, quotes and backslashes.') }),
}
const nouns = { products: 'product', scopes: 'scope' } as const

/** The catalogues of API products and of scopes, for the administrator. */
export function catalogueHandlers({ storage, act }: ServiceContext): HandlersOf<typeof catalogueRoutes> {
  async function pageOf(request: DeveloperRequest, kind: CatalogueKind, form: FormState) {
    const [names, uses] = await Promise.all([storage[kind].list(), storage.listings.catalogueUses(kind)])
    const state = listState(request.query, { orders: ['name'] })
    return cataloguePage(request, { kind, names, uses, state, form })
  }

  async function show(request: DeveloperRequest, kind: CatalogueKind) {
    requireAdministrator(request)
    return { page: await pageOf(request, kind, emptyForm) }
  }

  async function change(request: DeveloperRequest, kind: CatalogueKind) {
    requireAdministrator(request)
    const { remove } = request.form
    const noun = nouns[kind]
    if (typeof remove === 'string') {
      await act(actorOf(request), async ({ [kind]: catalogue }, audit) => {
        await catalogue.remove(remove)
        audit(`${noun}_removed`, { detail: remove })
      })
      return { redirectTo: request.paths[kind], notice: `${noun}_removed` as const }
    }
    const parsed = parseForm(forms[kind], request.form)
    if (!parsed.data) {
      return { page: await pageOf(request, kind, parsed.state), status: 422 }
    }
    const { name } = parsed.data
    await act(actorOf(request), async ({ [kind]: catalogue }, audit) => {
      await catalogue.add([name])
      audit(`${noun}_added`, { detail: name })
    })
    return { redirectTo: request.paths[kind], notice: `${noun}_added` as const }
  }

  return {
    showProducts: (request) => show(request, 'products'),
    changeProducts: (request) => change(request, 'products'),
    showScopes: (request) => show(request, 'scopes'),
    changeScopes: (request) => change(request, 'scopes'),
  }
}
