import type { RouteTable } from '../route-table.ts'

const application = '/projects/:projectId/applications/:applicationId'

export const secretPaths = {
  credentials: `${application}/credentials`,
  secrets: `${application}/secrets`,
  secretRevocation: `${application}/secrets/:secretId/revocation`,
  keys: `${application}/keys`,
  key: `${application}/keys/:keyId`,
  keyRemoval: `${application}/keys/:keyId/removal`,
} as const

/** The credentials of an application. */
export const secretRoutes = {
  showCredentials: ['GET', 'credentials'],
  rotateSecret: ['POST', 'secrets'],
  revokeSecret: ['POST', 'secretRevocation'],
  showNewKey: ['GET', 'keys'],
  addKey: ['POST', 'keys'],
  renameKey: ['POST', 'key'],
  removeKey: ['POST', 'keyRemoval'],
} as const satisfies RouteTable<keyof typeof secretPaths>
