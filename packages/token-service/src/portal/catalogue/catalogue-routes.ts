import type { RouteTable } from '../route-table.ts'

export const cataloguePaths = {
  products: '/products',
  scopes: '/scopes',
} as const

/** The API products and scopes, for administrators. */
export const catalogueRoutes = {
  showProducts: ['GET', 'products'],
  changeProducts: ['POST', 'products'],
  showScopes: ['GET', 'scopes'],
  changeScopes: ['POST', 'scopes'],
} as const satisfies RouteTable<keyof typeof cataloguePaths>
