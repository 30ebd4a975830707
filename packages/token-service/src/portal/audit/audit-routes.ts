import type { RouteTable } from '../route-table.ts'

export const auditPaths = {
  audit: '/audit',
  auditExport: '/audit/export',
} as const

/** The audit log, for administrators. */
export const auditRoutes = {
  showAudit: ['GET', 'audit'],
  exportAudit: ['GET', 'auditExport'],
} as const satisfies RouteTable<keyof typeof auditPaths>
