/** Every address of the portal, under what the service is reached by. */
export interface Paths {
  readonly root: string
  readonly reference: string
  readonly logIn: string
  readonly logOut: string
  readonly account: string
  readonly developers: string
  readonly projects: string
  readonly newProject: string
  join(token: string): string
  newPassword(token: string): string
  removal(developerId: string): string
  passwordLink(developerId: string): string
  asset(name: string): string
  project(projectId: string): string
  newApplication(projectId: string): string
  application(projectId: string, applicationId: string): string
  settings(projectId: string, applicationId: string): string
  status(projectId: string, applicationId: string): string
  rotation(projectId: string, applicationId: string): string
  revocation(projectId: string, applicationId: string, secretId: string): string
}

/** `publicUrl` may hold a path that a proxy takes away. */
export function createPaths(publicUrl: string | undefined): Paths {
  const base = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
  const root = `${base}/portal`
  const project = (projectId: string) => `${root}/projects/${projectId}`
  const application = (projectId: string, id: string) => `${project(projectId)}/applications/${id}`
  return {
    root,
    reference: `${base}/reference`,
    logIn: `${root}/log-in`,
    logOut: `${root}/log-out`,
    account: `${root}/account`,
    developers: `${root}/developers`,
    projects: `${root}/projects`,
    newProject: `${root}/new-project`,
    removal: (developerId) => `${root}/developers/${developerId}/removal`,
    passwordLink: (developerId) => `${root}/developers/${developerId}/password-link`,
    newPassword: (token) => `${root}/password/${token}`,
    join: (token) => `${root}/join/${token}`,
    asset: (name) => `${root}/assets/${name}`,
    project,
    newApplication: (projectId) => `${project(projectId)}/new-application`,
    application,
    settings: (projectId, id) => `${application(projectId, id)}/settings`,
    status: (projectId, id) => `${application(projectId, id)}/status`,
    rotation: (projectId, id) => `${application(projectId, id)}/secrets`,
    revocation: (projectId, id, secretId) => `${application(projectId, id)}/secrets/${secretId}/revocation`,
  }
}
