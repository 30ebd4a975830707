import type { RouteTable } from '../route-table.ts'

export const auditPaths = {
  audit: '/audit',
  auditExport: '/audit/export',
  clockConfirmation: '/audit/clock',
} as const

/** The audit log, for administrators. */
export const auditRoutes = {
  showAudit: ['GET', 'audit'],
  exportAudit: ['GET', 'auditExport'],
  confirmClock: ['POST', 'clockConfirmation'],
} as const satisfies RouteTable<keyof typeof auditPaths>
