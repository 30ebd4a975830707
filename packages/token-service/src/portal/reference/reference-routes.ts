import type { RouteTable } from '../route-table.ts'

export const referencePaths = {
  reference: '/reference',
} as const

/** The API reference. */
export const referenceRoutes = {
  showReference: ['GET', 'reference'],
} as const satisfies RouteTable<keyof typeof referencePaths>
