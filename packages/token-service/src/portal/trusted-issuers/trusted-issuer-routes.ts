import type { RouteTable } from '../route-table.ts'

export const trustedIssuerPaths = {
  trustedIssuers: '/trusted-issuers',
  trustedIssuer: '/trusted-issuers/:id',
  trustedIssuerRemoval: '/trusted-issuers/:id/removal',
} as const

/** The issuers whose JWTs are exchanged for tokens, for administrators. */
export const trustedIssuerRoutes = {
  showTrustedIssuers: ['GET', 'trustedIssuers'],
  addTrustedIssuer: ['POST', 'trustedIssuers'],
  showTrustedIssuer: ['GET', 'trustedIssuer'],
  changeTrustedIssuer: ['POST', 'trustedIssuer'],
  removeTrustedIssuer: ['POST', 'trustedIssuerRemoval'],
} as const satisfies RouteTable<keyof typeof trustedIssuerPaths>
