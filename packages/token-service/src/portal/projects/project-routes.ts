import type { RouteTable } from '../route-table.ts'

export const projectPaths = {
  projects: '/projects',
  newProject: '/new-project',
  project: '/projects/:projectId',
  projectSettings: '/projects/:projectId/settings',
  projectDeletion: '/projects/:projectId/deletion',
  owners: '/projects/:projectId/owners',
} as const

/** Projects and their owners. */
export const projectRoutes = {
  showProjects: ['GET', 'projects'],
  showNewProject: ['GET', 'newProject'],
  createProject: ['POST', 'newProject'],
  showProject: ['GET', 'project'],
  showProjectSettings: ['GET', 'projectSettings'],
  changeProject: ['POST', 'projectSettings'],
  deleteProject: ['POST', 'projectDeletion'],
  changeOwners: ['POST', 'owners'],
} as const satisfies RouteTable<keyof typeof projectPaths>
