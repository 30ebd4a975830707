import { z } from 'zod'
import { named, operation, type AnyOperation, type OperationGroup } from '../../admin/operation.ts'
import { productName, scopeDetails, scopeName } from '../applications/settings.ts'
import { setScope } from './acts.ts'
import { parseValue } from '../../runtime/parse-value.ts'

const scope = named('Scope', scopeDetails.extend({ name: z.string() }))

const removal = (kind: 'products' | 'scopes', noun: string): AnyOperation =>
  operation({
    method: 'delete',
    path: `/${kind}/:id`,
    command: { name: `remove-${noun}`, labels: { id: 'name' } },
    summary: `Remove a ${noun}`,
    run: ({ act }, { params, by }) =>
      act(by, async ({ [kind]: catalogue }, audit) => {
        await catalogue.remove(params.id)
        audit(`${noun}_removed`, { detail: params.id })
      }),
  })

export const catalogueOperations: OperationGroup = {
  heading: 'Products and scopes',
  operations: [
    operation({
      method: 'get',
      path: '/products',
      command: 'products',
      summary: 'List products',
      response: z.array(z.string()),
      run: ({ storage }) => storage.products.list(),
    }),
    operation({
      method: 'put',
      path: '/products/:id',
      command: { name: 'add-product', labels: { id: 'name' } },
      summary: 'Add a product',
      async run({ act }, { params, by }) {
        const product = parseValue(productName, params.id, 'The name of the product')
        await act(by, async ({ products }, audit) => {
          await products.add([product])
          audit('product_added', { detail: product })
        })
      },
    }),
    removal('products', 'product'),
    operation({
      method: 'get',
      path: '/scopes',
      command: 'scopes',
      summary: 'List scopes',
      response: z.array(scope),
      run: ({ storage }) => storage.scopes.listScopes(),
    }),
    operation({
      method: 'put',
      path: '/scopes/:id',
      command: { name: 'add-scope', labels: { id: 'name' } },
      summary: 'Add a scope, or change its API and its description',
      body: scopeDetails,
      async run({ act }, { params, body, by }) {
        const name = parseValue(scopeName, params.id, 'The name of the scope')
        await act(by, (stored, audit) => setScope({ name, ...body }, stored, audit))
      },
    }),
    removal('scopes', 'scope'),
  ],
}
