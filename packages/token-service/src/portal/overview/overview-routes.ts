import type { RouteTable } from '../route-table.ts'

export const overviewPaths = {
  root: '',
  start: '/get-started',
  expiringSecrets: '/expiring-secrets',
} as const

/** The first page, the steps to the first token, and the secrets that expire. */
export const overviewRoutes = {
  showOverview: ['GET', 'root'],
  showStart: ['GET', 'start'],
  showExpiringSecrets: ['GET', 'expiringSecrets'],
} as const satisfies RouteTable<keyof typeof overviewPaths>
