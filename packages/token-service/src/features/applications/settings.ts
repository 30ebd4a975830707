import { z } from 'zod'
import { name, optionalLine, printable, projectName } from '../../runtime/bounds.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import {
  approvalOf,
  approvedFields,
  needsApproval,
  type Application,
  type Approval,
  type DpopUse,
} from '../../storage/application.ts'
import { audiences, productName, scopeName } from '../catalogue/settings.ts'

/** How long tokens last unless an application has another lifetime. */
export const defaultLifetimeSeconds = 3600

export const maxLifetimeSeconds = 365 * 86_400

export const responseForms = ['products', 'refresh', 'rfc6749'] as const

export const tokenFormats = ['opaque', 'jwt'] as const

export const dpopUses = ['none', 'allowed', 'required'] as const

/** The claims that the service sets, and those that mean something else in other tokens. */
const reservedClaims = [
  'iss',
  'sub',
  'aud',
  'exp',
  'nbf',
  'iat',
  'jti',
  'client_id',
  'scope',
  'scp',
  'api_products',
  'cnf',
  'act',
  'may_act',
]

/** How many products and scopes an application has. */
const maxNames = 1_000

/** What owners and administrators write about a request, in characters. */
export const maxNoteLength = 500

const claims = z
  .record(z.string().min(1), z.unknown())
  .refine((members) => !reservedClaims.some((name) => Object.hasOwn(members, name)), {
    message: `must not contain ${reservedClaims.join(', ')}`,
  })
  .refine((members) => JSON.stringify(members).length <= 2_048, 'must have at most 2,048 characters as JSON')

/** What is chosen for an application. */
export const applicationSettings = z.strictObject({
  name,
  products: z.array(productName).max(maxNames).describe('The API products that its tokens are valid for.'),
  scopes: z
    .array(scopeName)
    .max(maxNames)
    .describe('The scopes that its tokens can have; a request can narrow them.'),
  level: optionalLine(200).describe('What token responses state as its level.'),
  responseForm: z.enum(responseForms).describe('The format of its token responses.'),
  lifetimeSeconds: z.int().min(1).max(maxLifetimeSeconds).describe('The lifetime of its tokens.'),
  tokenFormat: z.enum(tokenFormats).describe('The format of its tokens; JWTs need audiences.'),
  audiences: audiences.describe('The APIs that its tokens are for.'),
  dpop: z.enum(dpopUses).describe('Whether its tokens are bound to a key of the client (RFC 9449).'),
  claims: claims.describe('Further claims of its JWTs, such as `{"tenant": "a"}`.'),
})

/** What administrators change of the tokens of an application that exists. */
export const tokenSettings = applicationSettings.pick({
  tokenFormat: true,
  audiences: true,
  dpop: true,
  claims: true,
})

/** Those that are to be changed. */
export type TokenSettings = {
  readonly [Name in keyof typeof tokenSettings.shape]?: Application[Name] | undefined
}

type TextField = Exclude<
  keyof Approval,
  'products' | 'scopes' | 'lifetimeSeconds' | 'tokenFormat' | 'audiences' | 'dpop'
>

const statedNames: Readonly<Record<TextField, string>> = {
  name: 'name',
  level: 'level',
  organizationName: 'organisation',
  developerEmail: 'developer email',
}

/** The texts that token responses state of an application, as those who approve them read them. */
export const statedFields = Object.entries(statedNames) as [TextField, string][]

/** Whether something is wanted that was not approved. */
function exceeds(wanted: Approval, approved: Approval): boolean {
  return approvedFields.some((field) => {
    const [value, granted] = [wanted[field], approved[field]]
    switch (needsApproval[field]) {
      case 'longer':
        return value > granted
      case 'more':
        return (value as readonly string[]).some((each) => !(granted as readonly string[]).includes(each))
      case 'weaker':
        return dpopUses.indexOf(value as DpopUse) < dpopUses.indexOf(granted as DpopUse)
      case 'other':
        return value !== granted
    }
  })
}

/** What changes at once, and what is only requested because the approval of an approved application lacks it. */
export function approvedNow(
  current: Application,
  changes: Partial<Approval>,
  byAdministrator: boolean,
): Partial<Approval> & { readonly requested: Approval | null } {
  const latest = current.requested ?? current
  const wanted: Approval = { ...approvalOf(latest), ...changes }
  if (byAdministrator || current.status !== 'approved') {
    // What else is requested still needs a decision.
    const isOpen = current.requested && exceeds(wanted, { ...current, ...changes })
    return { ...changes, requested: isOpen ? wanted : null }
  }
  return exceeds(wanted, current) ? { requested: wanted } : { ...wanted, requested: null }
}

export const settingNames = applicationSettings.keyof().options
export type SettingName = (typeof settingNames)[number]

/** What is chosen for a new application; only the name has no default. */
export const newApplicationSettings = applicationSettings.extend({
  products: applicationSettings.shape.products.default([]),
  scopes: applicationSettings.shape.scopes.default([]),
  level: applicationSettings.shape.level.default(''),
  responseForm: applicationSettings.shape.responseForm.default('products'),
  lifetimeSeconds: applicationSettings.shape.lifetimeSeconds.default(defaultLifetimeSeconds),
  tokenFormat: applicationSettings.shape.tokenFormat.default('opaque'),
  audiences: applicationSettings.shape.audiences.default([]),
  dpop: applicationSettings.shape.dpop.default('allowed'),
  claims: applicationSettings.shape.claims.default({}),
})

/** A configured application. */
export const applicationSchema = newApplicationSettings.extend({
  clientId: printable,
  clientSecret: printable.optional(),
  clientSecretExpiresAt: z.iso.datetime({ offset: true }).optional(),
  jwks: z.object({ keys: z.array(z.looseObject({})) }).optional(),
  jwksUrl: z.string().optional(),
  publicKey: z.string().optional(),
  status: z.enum(['approved', 'pending', 'revoked']).default('approved'),
  project: projectName.default('default'),
  organizationName: name.default('example-org'),
  developerEmail: name.default('developer@example.com'),
})

export type ResolvedApplication = z.output<typeof applicationSchema>

/** Whether an application would get JWTs for no API. */
export function lacksAudience({
  tokenFormat,
  audiences,
}: Pick<Application, 'tokenFormat' | 'audiences'>): boolean {
  return tokenFormat === 'jwt' && audiences.length === 0
}

/** @throws {@link UsageError} if an application {@link lacksAudience} */
export function rejectWithoutAudience(
  applications: readonly Pick<Application, 'clientId' | 'tokenFormat' | 'audiences'>[],
): void {
  const wrong = applications.find(lacksAudience)
  if (wrong)
    throw new UsageError(
      `"${wrong.clientId}" in applications has the token format jwt without audiences. Add the API that its tokens are for.`,
    )
}
