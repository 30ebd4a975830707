import { secureUrl } from '@tokenwell/core/protocol'
import { z } from 'zod'

const text = z.string().min(1).max(1_000)
const scope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, 'must be a scope (RFC 6749, section 3.3)')

function isIssuer(value: string): boolean {
  try {
    return !secureUrl('issuer', value).search && !value.endsWith('?') && !value.endsWith('#')
  } catch {
    return false
  }
}

/** What is chosen for the OpenID provider. */
export const openidProviderSettings = z.strictObject({
  name: z.string().regex(/^[^\p{C}\p{Zl}\p{Zp}]{1,40}$/u, 'must have 1 to 40 printable characters'),
  issuer: z.url().refine(isIssuer, 'must be an https URL without a query or a fragment'),
  clientId: text,
  clientSecret: text,
  scopes: z
    .array(scope)
    .default(['openid', 'profile'])
    .refine((scopes) => scopes.includes('openid'), 'must contain openid'),
  nameClaim: text.default('preferred_username'),
  groupsClaim: text.default('groups'),
  administratorGroups: z.array(text).default([]),
  developerGroups: z.union([z.literal('*'), z.array(text)], 'must be a list of groups, or "*" for everybody'),
  localPasswords: z.boolean().default(true),
})

export type OpenidProviderSettings = z.output<typeof openidProviderSettings>
