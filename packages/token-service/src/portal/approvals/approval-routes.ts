import type { RouteTable } from '../route-table.ts'

const application = '/projects/:projectId/applications/:applicationId'

export const approvalPaths = {
  approvals: '/approvals',
  approval: `${application}/approval`,
  decline: `${application}/decline`,
} as const

/** What administrators decide on. */
export const approvalRoutes = {
  showApprovals: ['GET', 'approvals'],
  decide: ['POST', 'approvals'],
  changeApproval: ['POST', 'approval'],
  showDecline: ['GET', 'decline'],
} as const satisfies RouteTable<keyof typeof approvalPaths>
