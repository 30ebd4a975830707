import type { TokenRequirements, TokenVerifierOptions } from '@tokenwell/resource-server'

/** Options of each API's verifier, as JSON: some APIs run in a separate process. */
export type ApiConfigs = Readonly<Record<string, TokenVerifierOptions>>

/** What the routes of each API require: `/{api}/{route}`. */
export const routes = {
  any: {},
  product: { products: ['orders'] },
  products: { products: ['orders', 'invoices'] },
  scope: { scopes: ['orders:read'] },
  all: { products: ['orders'], scopes: ['orders:read', 'orders:write'] },
} as const satisfies Record<string, TokenRequirements>

/** APIs of one framework on a socket. */
export interface RunningApis {
  readonly origin: string
  close(): Promise<void>
}
