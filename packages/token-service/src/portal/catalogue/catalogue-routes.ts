import type { RouteTable } from '../route-table.ts'

export const cataloguePaths = {
  products: '/products',
} as const

/** The API products, for administrators. */
export const catalogueRoutes = {
  showProducts: ['GET', 'products'],
  changeProducts: ['POST', 'products'],
} as const satisfies RouteTable<keyof typeof cataloguePaths>
