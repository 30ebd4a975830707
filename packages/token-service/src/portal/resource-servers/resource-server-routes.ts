import type { RouteTable } from '../route-table.ts'

export const resourceServerPaths = {
  resourceServers: '/resource-servers',
  resourceServer: '/resource-servers/:clientId',
  resourceServerRemoval: '/resource-servers/:clientId/removal',
  resourceServerSecrets: '/resource-servers/:clientId/secrets',
  resourceServerSecretRevocation: '/resource-servers/:clientId/secrets/:secretId/revocation',
  resourceServerKeys: '/resource-servers/:clientId/keys',
  resourceServerKey: '/resource-servers/:clientId/keys/:keyId',
  resourceServerKeyRemoval: '/resource-servers/:clientId/keys/:keyId/removal',
} as const

/** The APIs that may introspect tokens, for administrators. */
export const resourceServerRoutes = {
  showResourceServers: ['GET', 'resourceServers'],
  createResourceServer: ['POST', 'resourceServers'],
  showResourceServer: ['GET', 'resourceServer'],
  changeResourceServer: ['POST', 'resourceServer'],
  removeResourceServer: ['POST', 'resourceServerRemoval'],
  rotateResourceServerSecret: ['POST', 'resourceServerSecrets'],
  revokeResourceServerSecret: ['POST', 'resourceServerSecretRevocation'],
  showNewResourceServerKey: ['GET', 'resourceServerKeys'],
  addResourceServerKey: ['POST', 'resourceServerKeys'],
  renameResourceServerKey: ['POST', 'resourceServerKey'],
  removeResourceServerKey: ['POST', 'resourceServerKeyRemoval'],
} as const satisfies RouteTable<keyof typeof resourceServerPaths>
