import { z } from 'zod'
import { named, operation, type AnyOperation, type OperationGroup } from '../operation.ts'
import { parseValue } from '../../runtime/parse-value.ts'
import type { CatalogueEntry } from './storage.ts'
import { productDetails, productName, scopeDetails, scopeName } from './settings.ts'
import { entryRevision, removeEntry, setEntry } from './acts.ts'
import { requireRevision } from '../../storage/revision.ts'

const revision = z.string().describe('For `If-Match`, when it is replaced.')

const catalogues = {
  products: {
    noun: 'product',
    entry: named('Product', productDetails.extend({ name: z.string(), revision })),
    details: productDetails,
    name: productName,
    replaced: 'its description',
  },
  scopes: {
    noun: 'scope',
    entry: named('Scope', scopeDetails.extend({ name: z.string(), revision })),
    details: scopeDetails,
    name: scopeName,
    replaced: 'its API and its description',
  },
} as const

const operationsOf = (kind: keyof typeof catalogues): AnyOperation[] => {
  const { noun, entry, details, name, replaced } = catalogues[kind]
  return [
    operation({
      method: 'get',
      path: `/${kind}`,
      command: kind,
      summary: `List ${kind}`,
      response: z.array<z.ZodType<CatalogueEntry & { readonly revision: string }>>(entry),
      async run({ storage }) {
        const entries: readonly CatalogueEntry[] = await storage[kind].list()
        return entries.map((each) => ({ ...each, revision: entryRevision(each) }))
      },
    }),
    operation({
      method: 'put',
      path: `/${kind}/:id`,
      command: { name: `set-${noun}`, labels: { id: 'name' } },
      summary: `Set a ${noun}: add it, or replace ${replaced}`,
      ifMatch: 'required',
      body: details,
      async run({ perform }, { params, body, by, seen }) {
        const added = { name: parseValue(name, params.id, `The name of the ${noun}`), ...body }
        await perform(by, (act) =>
          setEntry(act, kind, added, (current) =>
            requireRevision(`The ${noun}`, current && entryRevision(current), seen),
          ),
        )
      },
    }),
    operation({
      method: 'delete',
      path: `/${kind}/:id`,
      command: { name: `remove-${noun}`, labels: { id: 'name' } },
      summary: `Remove a ${noun}`,
      run: ({ perform }, { params, by }) => perform(by, (act) => removeEntry(act, kind, params.id)),
    }),
  ]
}

export const catalogueOperations: OperationGroup = {
  heading: 'Products and scopes',
  operations: [...operationsOf('products'), ...operationsOf('scopes')],
}
