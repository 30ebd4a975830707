import { z } from 'zod'
import { operation, type AnyOperation, type OperationGroup } from '../../admin/operation.ts'
import { productName, scopeName } from '../applications/settings.ts'
import { parseValue } from '../../runtime/parse-value.ts'

function operationsFor(kind: 'products' | 'scopes', noun: string, name: z.ZodType<string>): AnyOperation[] {
  return [
    operation({
      method: 'get',
      path: `/${kind}`,
      command: kind,
      summary: `List ${kind}`,
      response: z.array(z.string()),
      run: ({ storage }) => storage[kind].list(),
    }),
    operation({
      method: 'put',
      path: `/${kind}/:id`,
      command: { name: `add-${noun}`, labels: { id: 'name' } },
      summary: `Add a ${noun}`,
      async run({ act }, { params, by }) {
        const added = parseValue(name, params.id, `The name of the ${noun}`)
        await act(by, async ({ [kind]: catalogue }, audit) => {
          await catalogue.add([added])
          audit(`${noun}_added`, { detail: added })
        })
      },
    }),
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
    }),
  ]
}

export const catalogueOperations: OperationGroup = {
  heading: 'Products and scopes',
  operations: [
    ...operationsFor('products', 'product', productName),
    ...operationsFor('scopes', 'scope', scopeName),
  ],
}
