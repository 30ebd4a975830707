import type { RequireTokenOptions, TokenVerifierOptions } from '@tokenwell/resource-server'

/** Options of each API's verifier, as JSON: some APIs run in a separate process. */
export type ApiConfigs = Readonly<Record<string, TokenVerifierOptions>>

/** What the routes of each API require: `/{api}/{route}`. */
export const routes = {
  any: {},
  product: { products: ['orders'] },
  products: { products: ['orders', 'invoices'] },
  scope: { scopes: ['orders:read'] },
  all: { products: ['orders'], scopes: ['orders:read', 'orders:write'] },
  anyScope: { anyScope: ['orders:read', 'orders:admin'] },
  claims: {
    claims: { roles: ['reader', 'writer'], 'kubernetes.io': { namespace: { anyOf: ['shop', 'test'] } } },
  },
  where: { where: ({ clientId }) => clientId === 'client' },
  optional: { optional: true },
} as const satisfies Record<string, RequireTokenOptions<never>>

/** APIs of one framework on a socket. */
export interface RunningApis {
  readonly origin: string
  close(): Promise<void>
}
