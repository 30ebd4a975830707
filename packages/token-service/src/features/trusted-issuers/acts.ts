import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Clock } from '../../runtime/clock.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import type { Actor } from '../../storage/audit-storage.ts'
import type { ClaimPatterns } from '../../storage/application.ts'
import { type Transaction, type Act } from '../acts.ts'
import type { TrustedIssuer } from './storage.ts'
import { byConfiguration, changesOf } from '../../storage/act.ts'

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

const maxRules = 200

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

/** Adds, changes and removes trusted issuers while the service runs; each change is written to the audit log. */
export interface TrustedIssuerRegistry {
  /** @throws {@link UsageError} if it is trusted already, or a rule is invalid */
  add(settings: TrustedIssuerSettings): Promise<TrustedIssuer>
  /** Tokens that have been issued stay valid. @throws {@link UsageError} as `add`, or if it is configured */
  change(
    id: string,
    to: TrustedIssuerSettings | ((current: TrustedIssuer) => TrustedIssuerSettings),
  ): Promise<TrustedIssuer>
  /** Revokes the tokens that were issued for its JWTs. @throws {@link UsageError} if it is configured */
  remove(id: string): Promise<void>
}

export function createTrustedIssuerRegistry(
  { act, clock }: { readonly act: Act; readonly clock: Clock },
  by: Actor,
): TrustedIssuerRegistry {
  return {
    add: (settings) =>
      act(by, async (stored, audit) => {
        await checkSettings(settings, stored)
        const issuer = { id: randomUUID(), createdAtMs: clock.now(), configured: false, ...settings }
        if (!(await stored.trustedIssuers.create(issuer))) throw trustedAlready(settings)
        audit('trusted_issuer_added', { detail: settings.issuer, changes: changesOf(settings) })
        return issuer
      }),
    change: (id, to) =>
      act(by, async (stored, audit) => {
        const current = await findChangeable(id, stored)
        const settings = typeof to === 'function' ? to(current) : to
        await checkSettings(settings, stored)
        const other = await stored.trustedIssuers.find(settings.issuer)
        if (other && other.id !== id) throw trustedAlready(settings)
        const issuer = { id, createdAtMs: current.createdAtMs, configured: false, ...settings }
        await stored.trustedIssuers.replace(issuer)
        audit('trusted_issuer_changed', { detail: settings.issuer, changes: changesOf(settings, current) })
        return issuer
      }),
    remove: (id) =>
      act(by, async (stored, audit) => {
        const { issuer } = await findChangeable(id, stored)
        await stored.trustedIssuers.remove(id)
        audit('trusted_issuer_removed', { detail: issuer })
      }),
  }
}

/** @throws {@link NotFoundError} without one */
export async function findTrustedIssuer(
  id: string | undefined,
  { trustedIssuers }: Pick<Transaction, 'trustedIssuers'>,
): Promise<TrustedIssuer> {
  const found = (await trustedIssuers.list()).find((each) => each.id === id)
  if (found) return found
  throw new NotFoundError(`There is no trusted issuer with the ID "${id}".`)
}

async function findChangeable(id: string, stored: Transaction): Promise<TrustedIssuer> {
  const found = await findTrustedIssuer(id, stored)
  if (!found.configured) return found
  throw new UsageError(`"${found.issuer}" is in the configuration of the service. Change it there.`)
}

function trustedAlready({ issuer }: TrustedIssuerSettings): UsageError {
  return new UsageError(`"${issuer}" is trusted already. Change its rules instead.`)
}

async function checkSettings(settings: TrustedIssuerSettings, { applications }: Transaction): Promise<void> {
  rejectInvalidIssuers([settings])
  if (settings.rules.length === 0)
    throw new UsageError(`"${settings.issuer}" needs a rule. Remove the issuer instead.`)
  if (settings.rules.length > maxRules)
    throw new UsageError(`"${settings.issuer}" can have at most ${maxRules} rules.`)
  for (const { clientId } of settings.rules) {
    if (await applications.findClient(clientId)) continue
    throw new NotFoundError(`There is no application with the client ID "${clientId}".`)
  }
}

/** The configured issuers become exactly these; those that administrators added stay. */
export async function seedTrustedIssuers(
  configured: readonly TrustedIssuerSettings[],
  { act, nowMs }: { readonly act: Act; readonly nowMs: number },
): Promise<void> {
  await act(byConfiguration, async ({ trustedIssuers }, audit) => {
    const stored = await trustedIssuers.list()
    for (const { id, issuer } of stored.filter((each) => each.configured)) {
      if (configured.some((each) => each.issuer === issuer)) continue
      await trustedIssuers.remove(id)
      audit('trusted_issuer_removed', { detail: issuer })
    }
    for (const settings of configured) {
      const { issuer } = settings
      const current = stored.find((each) => each.issuer === issuer)
      if (!current) {
        await trustedIssuers.create({ id: randomUUID(), createdAtMs: nowMs, configured: true, ...settings })
        audit('trusted_issuer_added', { detail: issuer, changes: changesOf(settings) })
        continue
      }
      const next = { id: current.id, createdAtMs: current.createdAtMs, configured: true, ...settings }
      if (isDeepStrictEqual(next, current)) continue
      await trustedIssuers.replace(next)
      audit('trusted_issuer_changed', { detail: issuer, changes: changesOf(settings, current) })
    }
  })
}
