import { z } from 'zod'
import { UsageError } from '../../runtime/usage-error.ts'
import type { ClaimPatterns } from '../../storage/application.ts'

const httpsUrl = z.url({ protocol: /^https$/, error: 'must be an https URL' })

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

export const maxRules = 200

/** What is chosen for a trusted issuer. */
export const trustedIssuerSettings = z.strictObject({
  issuer: z.string().min(1).max(1_000).describe('The `iss` of its JWTs, character by character.'),
  jwksUrl: httpsUrl
    .optional()
    .describe('The URL of its JWK set; by default, the one in its metadata (RFC 8414, or OpenID Connect).'),
  audiences: z
    .array(z.string().min(1).max(1_000))
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
        clientId: z.string().min(1),
        claims: claimPatterns.describe(
          'What the JWT must contain, such as `{"sub": "repo:example/orders:*"}`.',
        ),
      }),
    )
    .min(1)
    .max(maxRules)
    .describe('Which application a JWT stands for: exactly one must be found.'),
})

export type TrustedIssuerSettings = z.output<typeof trustedIssuerSettings>

/** @throws {@link UsageError} for an issuer that is configured twice, or whose metadata cannot be at its URL */
export function rejectInvalidIssuers(issuers: readonly TrustedIssuerSettings[]): void {
  for (const [index, { issuer, jwksUrl }] of issuers.entries()) {
    if (issuers.findIndex((each) => each.issuer === issuer) !== index)
      throw new UsageError(`trustedIssuers contains "${issuer}" twice. Put all rules into one entry.`)
    if (jwksUrl === undefined && !httpsUrl.safeParse(issuer).success)
      throw new UsageError(
        `The trusted issuer "${issuer}" is not an https URL, so its keys cannot be discovered. Set jwksUrl.`,
      )
  }
}
