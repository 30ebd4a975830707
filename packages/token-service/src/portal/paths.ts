import { accountPaths } from './account/account-routes.ts'
import { applicationPaths } from './applications/application-routes.ts'
import { approvalPaths } from './approvals/approval-routes.ts'
import { auditPaths } from './audit/audit-routes.ts'
import { overviewPaths } from './overview/overview-routes.ts'
import { peoplePaths } from './people/people-routes.ts'
import { projectPaths } from './projects/project-routes.ts'
import { referencePaths } from './reference/reference-routes.ts'
import { resourceServerPaths } from './resource-servers/resource-server-routes.ts'
import { secretPaths } from './secrets/secret-routes.ts'
import { sessionPaths } from './session/session-routes.ts'
import { portalRoot } from '../http/base-url.ts'

/** Every path of the portal, under its root. */
export const patterns = {
  ...overviewPaths,
  ...referencePaths,
  ...sessionPaths,
  ...accountPaths,
  ...peoplePaths,
  ...resourceServerPaths,
  trustedIssuers: '/trusted-issuers',
  newTrustedIssuer: '/new-trusted-issuer',
  trustedIssuer: '/trusted-issuers/:id',
  trustedIssuerRemoval: '/trusted-issuers/:id/removal',
  newIdentityRule: '/trusted-issuers/:id/new-rule',
  identityRule: '/trusted-issuers/:id/rules/:rule',
  identityRuleRemoval: '/trusted-issuers/:id/rules/:rule/removal',
  webhook: '/webhook',
  webhookTest: '/webhook/test',
  webhookRemoval: '/webhook/removal',
  ...auditPaths,
  ...approvalPaths,
  products: '/products',
  productRemoval: '/products/removal',
  scopes: '/scopes',
  scopeRemoval: '/scopes/removal',
  ...projectPaths,
  ...applicationPaths,
  ...secretPaths,
  tryToken: '/reference/token',
  tryIntrospection: '/reference/introspection',
  tryRevocation: '/reference/revocation',
  search: '/search',
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
