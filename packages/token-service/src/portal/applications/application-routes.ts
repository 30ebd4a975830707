import type { RouteTable } from '../route-table.ts'

const application = '/projects/:projectId/applications/:applicationId'

export const applicationPaths = {
  applications: '/applications',
  newApplication: '/new-application',
  application,
  requests: `${application}/requests`,
  settings: `${application}/settings`,
  move: `${application}/project`,
  deletion: `${application}/deletion`,
} as const

/** Applications, their requests and settings. */
export const applicationRoutes = {
  showApplications: ['GET', 'applications'],
  showNewApplication: ['GET', 'newApplication'],
  createApplication: ['POST', 'newApplication'],
  showApplication: ['GET', 'application'],
  showRequests: ['GET', 'requests'],
  showSettings: ['GET', 'settings'],
  changeSettings: ['POST', 'settings'],
  moveApplication: ['POST', 'move'],
  deleteApplication: ['POST', 'deletion'],
} as const satisfies RouteTable<keyof typeof applicationPaths>
