import { z } from 'zod'
import { printable, printableUpTo } from '../../runtime/bounds.ts'
import { UsageError } from '../../runtime/usage-error.ts'
import type { ClaimPatterns, TrustedIssuer } from '../../storage/application.ts'
import { parsePublicKeys } from '../credentials/public-keys.ts'
import { missingOwner } from './presets.ts'

const httpsUrl = z.url({ protocol: /^https$/, error: 'must be an https URL' }).max(1_000)

/** A `*` without a separator before it would also match names that somebody else can register. */
const textPattern = /^[^*]+$|^[^*]*[:/]\*$/

function isPattern(value: unknown): boolean {
  if (typeof value === 'string') return textPattern.test(value)
  if (typeof value !== 'object' || value === null) return ['number', 'boolean'].includes(typeof value)
  const members = Object.values(value)
  return !Array.isArray(value) && members.length > 0 && members.every(isPattern)
}

/** As many as its form has lines. */
export const maxClaims = 20

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, member) => sum + valuesIn(member), 0)
}

/** What a rule requires of a JWT. */
export const claimPatterns = z
  .record(z.string().min(1), z.unknown())
  .refine(
    (patterns): patterns is ClaimPatterns => isPattern(patterns),
    'must contain texts, numbers, true, false and objects of them; a text may end with * after : or /',
  )
  .refine((patterns) => valuesIn(patterns) <= maxClaims, `must contain at most ${maxClaims} values`)
  .refine(
    (patterns) => JSON.stringify(patterns).length <= 8_192,
    'must have at most 8,192 characters as JSON',
  )

export const maxRules = 200

const maxKeySetLength = 65_536

/** What is chosen for a trusted issuer. */
export const trustedIssuerSettings = z.strictObject({
  issuer: printableUpTo(1_000).describe('The `iss` of its JWTs, character by character.'),
  jwksUrl: httpsUrl
    .optional()
    .describe('The URL of its JWK set; by default, the one in its metadata (RFC 8414, or OpenID Connect).'),
  jwks: z
    .strictObject({
      keys: z
        .array(z.looseObject({ kty: z.string() }))
        .min(1)
        .max(20),
    })
    .refine((set) => JSON.stringify(set).length <= maxKeySetLength, 'must have at most 64 KiB as JSON')
    .optional()
    .describe('Its JWK set, instead of a URL: its keys change only with this setting.'),
  audiences: z
    .array(printableUpTo(1_000))
    .max(20)
    .default([])
    .describe('The `aud` of its JWTs; by default, the issuer or the token endpoint of this service.'),
  detectReplay: z
    .boolean()
    .default(false)
    .describe('Accepts each JWT once, by its `jti`. Kubernetes and Google Cloud send one JWT repeatedly.'),
  rules: z
    .array(
      z.strictObject({
        clientId: printable,
        claims: claimPatterns.describe(
          'What the JWT must contain, such as `{"sub": "repo:example/orders:*"}`.',
        ),
      }),
    )
    .min(1)
    .max(maxRules)
    .describe('Which application a JWT stands for: exactly one must be found.'),
})

export type TrustedIssuerSettings = Omit<TrustedIssuer, 'id' | 'configured' | 'createdAtMs'>

/**
 * @throws {@link UsageError} for an issuer that is configured twice, or whose keys cannot be found or used, and for a rule that
 *   accepts JWTs of other customers of its platform
 */
export function rejectInvalidIssuers(issuers: readonly TrustedIssuerSettings[]): void {
  for (const [index, { issuer, jwksUrl, jwks, rules }] of issuers.entries()) {
    if (issuers.findIndex((each) => each.issuer === issuer) !== index)
      throw new UsageError(`trustedIssuers contains "${issuer}" twice. Put all rules into one entry.`)
    if (jwks !== undefined && jwksUrl !== undefined)
      throw new UsageError(`jwks and jwksUrl of the trusted issuer "${issuer}" are mutually exclusive.`)
    if (jwks !== undefined) parsePublicKeys(JSON.stringify(jwks))
    if (jwks === undefined && jwksUrl === undefined && !httpsUrl.safeParse(issuer).success)
      throw new UsageError(
        `The trusted issuer "${issuer}" is not an https URL, so its keys cannot be discovered. Set jwksUrl or jwks.`,
      )
    for (const { clientId, claims } of rules) {
      const missing = missingOwner(issuer, claims)
      if (missing !== undefined) throw new UsageError(`The rule of "${issuer}" for "${clientId}" ${missing}.`)
    }
  }
}
