import type { RouteTable } from '../route-table.ts'

export const accountPaths = {
  account: '/account',
  sessions: '/account/sessions',
} as const

/** The developer's own account. */
export const accountRoutes = {
  showAccount: ['GET', 'account'],
  changePassword: ['POST', 'account'],
  endSessions: ['POST', 'sessions'],
} as const satisfies RouteTable<keyof typeof accountPaths>
