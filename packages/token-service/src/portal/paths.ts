import { portalRoot } from '../oauth/base-url.ts'

const application = '/projects/:projectId/applications/:applicationId'

/** Every path of the portal, under its root. */
export const patterns = {
  root: '',
  start: '/get-started',
  expiringSecrets: '/expiring-secrets',
  reference: '/reference',
  logIn: '/log-in',

  openidLogIn: '/log-in/openid',
  openidCallback: '/log-in/callback',
  linkOpenid: '/account/openid',
  unlinkOpenid: '/account/openid/unlink',
  logOut: '/log-out',
  backChannelLogOut: '/log-out/back-channel',
  join: '/join/:token',
  newPassword: '/password/:token',
  account: '/account',
  sessions: '/account/sessions',
  developers: '/developers',
  person: '/developers/:developerId',
  developerRemoval: '/developers/:developerId/removal',
  developerBlock: '/developers/:developerId/block',
  passwordLink: '/developers/:developerId/password-link',
  invitations: '/invitations',
  invitationWithdrawal: '/invitations/:hash/withdrawal',
  role: '/developers/:developerId/role',
  resourceServers: '/resource-servers',
  resourceServer: '/resource-servers/:clientId',
  resourceServerRemoval: '/resource-servers/:clientId/removal',
  resourceServerSecrets: '/resource-servers/:clientId/secrets',
  resourceServerSecretRevocation: '/resource-servers/:clientId/secrets/:secretId/revocation',
  resourceServerKeys: '/resource-servers/:clientId/keys',
  resourceServerKey: '/resource-servers/:clientId/keys/:keyId',
  resourceServerKeyRemoval: '/resource-servers/:clientId/keys/:keyId/removal',
  trustedIssuers: '/trusted-issuers',
  newTrustedIssuer: '/new-trusted-issuer',
  trustedIssuer: '/trusted-issuers/:id',
  trustedIssuerRemoval: '/trusted-issuers/:id/removal',
  newIdentityRule: '/trusted-issuers/:id/new-rule',
  identityRule: '/trusted-issuers/:id/rules/:rule',
  identityRuleRemoval: '/trusted-issuers/:id/rules/:rule/removal',
  audit: '/audit',
  auditExport: '/audit/export',
  clockConfirmation: '/audit/clock',
  approvals: '/approvals',
  approval: `${application}/approval`,
  decline: `${application}/decline`,
  products: '/products',
  productRemoval: '/products/removal',
  scopes: '/scopes',
  scopeRemoval: '/scopes/removal',
  projects: '/projects',
  newProject: '/new-project',
  project: '/projects/:projectId',
  projectSettings: '/projects/:projectId/settings',
  projectDeletion: '/projects/:projectId/deletion',
  owners: '/projects/:projectId/owners',
  applications: '/applications',
  newApplication: '/new-application',
  application,
  requests: `${application}/requests`,
  settings: `${application}/settings`,
  move: `${application}/project`,
  deletion: `${application}/deletion`,
  credentials: `${application}/credentials`,
  secrets: `${application}/secrets`,
  secretRevocation: `${application}/secrets/:secretId/revocation`,
  keys: `${application}/keys`,
  key: `${application}/keys/:keyId`,
  keyRemoval: `${application}/keys/:keyId/removal`,
  tryToken: '/reference/token',
  tryIntrospection: '/reference/introspection',
  tryRevocation: '/reference/revocation',
  search: '/search',
  choices: '/choices/:kind',
  asset: '/assets/:name',
} as const

type Patterns = typeof patterns

/** The names of the parameters in a pattern. */
export type PathParameter<Pattern extends string> = Pattern extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameter<`/${Rest}`>
  : Pattern extends `${string}:${infer Name}`
    ? Name
    : never

/** One text for each parameter of a pattern: a link with a missing one does not compile. */
type Values<Pattern extends string> = Pattern extends `${string}:${string}/${infer Rest}`
  ? [string, ...Values<`/${Rest}`>]
  : Pattern extends `${string}:${string}`
    ? [string]
    : []

type PathOf<Pattern extends string> = Pattern extends `${string}:${string}`
  ? (...values: Values<Pattern>) => string
  : string

/** The paths as links need them: a pattern with parameters is a function of their values. */
export type Paths = { readonly [Name in keyof Patterns]: PathOf<Patterns[Name]> }

/** Redirects to the API reference, without the portal's prefix. */
export const referencePath = '/reference'

/** `publicUrl` may contain a path that a proxy removes. */
export function createPaths(publicUrl?: string): Paths {
  const base = publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')
  const entries = Object.entries(patterns).map(([name, pattern]) => {
    const path = `${base}${portalRoot}${pattern}`
    const fill = (...values: string[]) =>
      path.replaceAll(/:\w+/g, () => encodeURIComponent(values.shift() ?? ''))
    return [name, pattern.includes(':') ? fill : path]
  })
  return Object.fromEntries(entries) as Paths
}
