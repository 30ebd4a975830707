import { portalRoot } from '../portal-links.ts'

const application = '/projects/:projectId/applications/:applicationId'

/** Every path of the portal, under its root. */
const patterns = {
  root: '',
  start: '/get-started',
  reference: '/reference',
  logIn: '/log-in',
  logOut: '/log-out',
  join: '/join/:token',
  newPassword: '/password/:token',
  account: '/account',
  developers: '/developers',
  developerRemoval: '/developers/:developerId/removal',
  passwordLink: '/developers/:developerId/password-link',
  role: '/developers/:developerId/role',
  resourceServers: '/resource-servers',
  resourceServer: '/resource-servers/:clientId',
  resourceServerRemoval: '/resource-servers/:clientId/removal',
  resourceServerSecrets: '/resource-servers/:clientId/secrets',
  resourceServerSecretRevocation: '/resource-servers/:clientId/secrets/:secretId/revocation',
  resourceServerKeys: '/resource-servers/:clientId/keys',
  resourceServerKey: '/resource-servers/:clientId/keys/:keyId',
  resourceServerKeyRemoval: '/resource-servers/:clientId/keys/:keyId/removal',
  audit: '/audit',
  auditExport: '/audit/export',
  approvals: '/approvals',
  products: '/products',
  projects: '/projects',
  newProject: '/new-project',
  project: '/projects/:projectId',
  projectSettings: '/projects/:projectId/settings',
  projectDeletion: '/projects/:projectId/deletion',
  owners: '/projects/:projectId/owners',
  newApplication: '/projects/:projectId/new-application',
  application,
  settings: `${application}/settings`,
  approval: `${application}/approval`,
  move: `${application}/project`,
  deletion: `${application}/deletion`,
  secrets: `${application}/secrets`,
  secretRevocation: `${application}/secrets/:secretId/revocation`,
  keys: `${application}/keys`,
  key: `${application}/keys/:keyId`,
  keyRemoval: `${application}/keys/:keyId/removal`,
  asset: '/assets/:name',
} as const

type Patterns = typeof patterns
type PathOf<Pattern extends string> = Pattern extends `${string}:${string}`
  ? (...parameters: string[]) => string
  : string

/** The paths as links need them: a pattern with parameters is a function of their values. */
export type Paths = { readonly [Name in keyof Patterns]: PathOf<Patterns[Name]> }

const routeList = [
  ['GET', 'root', 'home'],
  ['GET', 'start', 'showStart'],
  ['GET', 'reference', 'showReference'],
  ['GET', 'logIn', 'showLogIn'],
  ['POST', 'logIn', 'logIn'],
  ['POST', 'logOut', 'logOut'],
  ['GET', 'join', 'showJoin'],
  ['POST', 'join', 'join'],
  ['GET', 'newPassword', 'showNewPassword'],
  ['POST', 'newPassword', 'setPassword'],
  ['GET', 'account', 'showAccount'],
  ['POST', 'account', 'changePassword'],
  ['GET', 'developers', 'showDevelopers'],
  ['POST', 'developers', 'invite'],
  ['POST', 'developerRemoval', 'removeDeveloper'],
  ['POST', 'passwordLink', 'createPasswordLink'],
  ['POST', 'role', 'changeRole'],
  ['GET', 'resourceServers', 'showResourceServers'],
  ['POST', 'resourceServers', 'createResourceServer'],
  ['GET', 'resourceServer', 'showResourceServer'],
  ['POST', 'resourceServer', 'renameResourceServer'],
  ['POST', 'resourceServerRemoval', 'removeResourceServer'],
  ['POST', 'resourceServerSecrets', 'rotateResourceServerSecret'],
  ['POST', 'resourceServerSecretRevocation', 'revokeResourceServerSecret'],
  ['GET', 'resourceServerKeys', 'showNewResourceServerKey'],
  ['POST', 'resourceServerKeys', 'addResourceServerKey'],
  ['POST', 'resourceServerKey', 'renameResourceServerKey'],
  ['POST', 'resourceServerKeyRemoval', 'removeResourceServerKey'],
  ['GET', 'audit', 'showAudit'],
  ['GET', 'auditExport', 'exportAudit'],
  ['GET', 'approvals', 'showApprovals'],
  ['GET', 'products', 'showProducts'],
  ['POST', 'products', 'changeProducts'],
  ['GET', 'projects', 'showProjects'],
  ['GET', 'newProject', 'showNewProject'],
  ['POST', 'newProject', 'createProject'],
  ['GET', 'project', 'showProject'],
  ['GET', 'projectSettings', 'showProjectSettings'],
  ['POST', 'projectSettings', 'changeProject'],
  ['POST', 'projectDeletion', 'deleteProject'],
  ['POST', 'owners', 'changeOwners'],
  ['GET', 'newApplication', 'showNewApplication'],
  ['POST', 'newApplication', 'createApplication'],
  ['GET', 'application', 'showApplication'],
  ['GET', 'settings', 'showSettings'],
  ['POST', 'settings', 'changeSettings'],
  ['POST', 'approval', 'changeApproval'],
  ['POST', 'move', 'moveApplication'],
  ['POST', 'deletion', 'deleteApplication'],
  ['POST', 'secrets', 'rotateSecret'],
  ['POST', 'secretRevocation', 'revokeSecret'],
  ['GET', 'keys', 'showNewKey'],
  ['POST', 'keys', 'addKey'],
  ['POST', 'key', 'renameKey'],
  ['POST', 'keyRemoval', 'removeKey'],
] as const

/** Redirects to the API reference, without the portal's prefix. */
export const referencePath = '/reference'
export const assetPattern = patterns.asset

/** Every request that the portal handles: method, path under its root, and name of the handler. */
export const routes = routeList.map(
  ([method, name, handler]) => ({ method, url: patterns[name] || '/', handler }) as const,
)

export type HandlerName = (typeof routeList)[number][2]

/** `publicUrl` may contain a path that a proxy removes. */
export function createPaths(publicUrl?: string): Paths {
  const base = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
  const entries = Object.entries(patterns).map(([name, pattern]) => {
    const path = `${base}${portalRoot}${pattern}`
    const fill = (...parameters: string[]) =>
      path.replaceAll(/:\w+/g, () => encodeURIComponent(parameters.shift() ?? ''))
    return [name, pattern.includes(':') ? fill : path]
  })
  return Object.fromEntries(entries) as Paths
}
