import type { RouteTable } from '../route-table.ts'

export const overviewPaths = {
  root: '',
  start: '/get-started',
} as const

/** The first page, and the steps to the first token. */
export const overviewRoutes = {
  showOverview: ['GET', 'root'],
  showStart: ['GET', 'start'],
} as const satisfies RouteTable<keyof typeof overviewPaths>
