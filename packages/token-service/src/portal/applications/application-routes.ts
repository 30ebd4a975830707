import type { RouteTable } from '../route-table.ts'

const application = '/projects/:projectId/applications/:applicationId'

export const applicationPaths = {
  newApplication: '/projects/:projectId/new-application',
  application: '/projects/:projectId/applications/:applicationId',
  settings: `${application}/settings`,
  move: `${application}/project`,
  deletion: `${application}/deletion`,
} as const

/** Applications and their settings. */
export const applicationRoutes = {
  showNewApplication: ['GET', 'newApplication'],
  createApplication: ['POST', 'newApplication'],
  showApplication: ['GET', 'application'],
  showSettings: ['GET', 'settings'],
  changeSettings: ['POST', 'settings'],
  moveApplication: ['POST', 'move'],
  deleteApplication: ['POST', 'deletion'],
} as const satisfies RouteTable<keyof typeof applicationPaths>
