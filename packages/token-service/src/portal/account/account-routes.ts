import type { RouteTable } from '../route-table.ts'

export const accountPaths = {
  account: '/account',
} as const

/** The developer's own account. */
export const accountRoutes = {
  showAccount: ['GET', 'account'],
  changePassword: ['POST', 'account'],
} as const satisfies RouteTable<keyof typeof accountPaths>
