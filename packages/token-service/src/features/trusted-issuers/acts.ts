import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import { changesOf, type Act } from '../../storage/act.ts'
import { revisionOf } from '../../storage/revision.ts'
import { applicationStorage } from '../applications/storage.ts'
import { maxRules, rejectInvalidIssuers, type TrustedIssuerSettings } from './settings.ts'
import { trustedIssuerStorage, type TrustedIssuerStorage } from './storage.ts'
import type { TrustedIssuer } from '../../storage/application.ts'

/** @throws {@link UsageError} if it is trusted already, or a rule is invalid */
export async function addTrustedIssuer(act: Act, settings: TrustedIssuerSettings): Promise<TrustedIssuer> {
  await checkSettings(settings, act)
  const issuer = { id: randomUUID(), createdAtMs: act.clock.now(), configured: false, ...settings }
  if (!(await trustedIssuerStorage(act).create(issuer))) throw trustedAlready(settings)
  act.audit('trusted_issuer_added', { detail: settings.issuer, changes: changesOf(settings) })
  return issuer
}

/**
 * Tokens that have been issued stay valid.
 *
 * @throws {@link UsageError} if it is configured, another one has that `iss`, or a rule is invalid
 */
export async function changeTrustedIssuer(
  act: Act,
  id: string,
  to: (current: TrustedIssuer) => TrustedIssuerSettings,
): Promise<TrustedIssuer> {
  const trustedIssuers = trustedIssuerStorage(act)
  const current = await findChangeable(id, trustedIssuers)
  const settings = to(current)
  await checkSettings(settings, act)
  const other = await trustedIssuers.find(settings.issuer)
  if (other && other.id !== id) throw trustedAlready(settings)
  const issuer = { id, createdAtMs: current.createdAtMs, configured: false, ...settings }
  await trustedIssuers.replace(issuer)
  act.audit('trusted_issuer_changed', { detail: settings.issuer, changes: changesFrom(current, settings) })
  return issuer
}

/** Revokes the tokens that were issued for its JWTs. @throws {@link UsageError} if it is configured */
export async function removeTrustedIssuer(act: Act, id: string): Promise<void> {
  const trustedIssuers = trustedIssuerStorage(act)
  const { issuer } = await findChangeable(id, trustedIssuers)
  await trustedIssuers.remove(id)
  act.audit('trusted_issuer_removed', { detail: issuer })
}

/** @throws {@link NotFoundError} without one */
export async function findTrustedIssuer(
  id: string,
  trustedIssuers: Pick<TrustedIssuerStorage, 'list'>,
): Promise<TrustedIssuer> {
  const found = (await trustedIssuers.list()).find((each) => each.id === id)
  if (found) return found
  throw new NotFoundError(`There is no trusted issuer with the ID "${id}".`)
}

async function findChangeable(id: string, trustedIssuers: TrustedIssuerStorage): Promise<TrustedIssuer> {
  const found = await findTrustedIssuer(id, trustedIssuers)
  if (!found.configured) return found
  throw new UsageError(`"${found.issuer}" is in the configuration of the service. Change it there.`)
}

function trustedAlready({ issuer }: TrustedIssuerSettings): UsageError {
  return new UsageError(`"${issuer}" is trusted already. Change its rules instead.`)
}

async function checkSettings(settings: TrustedIssuerSettings, act: Act): Promise<void> {
  rejectInvalidIssuers([settings])
  if (settings.rules.length === 0)
    throw new UsageError(`"${settings.issuer}" needs a rule. Remove the issuer instead.`)
  if (settings.rules.length > maxRules)
    throw new UsageError(`"${settings.issuer}" can have at most ${maxRules} rules.`)
  const applications = applicationStorage(act)
  for (const { clientId } of settings.rules) {
    if (await applications.findClient(clientId)) continue
    throw new NotFoundError(`There is no application with the client ID "${clientId}".`)
  }
}

/** Settings that are absent are removed. */
function changesFrom(current: TrustedIssuer, settings: TrustedIssuerSettings) {
  return changesOf({ jwksUrl: undefined, jwks: undefined, ...settings }, current)
}

/** The configured issuers become exactly these; those that administrators added stay. */
export async function seedTrustedIssuers(
  act: Act,
  configured: readonly TrustedIssuerSettings[],
): Promise<void> {
  const trustedIssuers = trustedIssuerStorage(act)
  const stored = await trustedIssuers.list()
  for (const { id, issuer } of stored.filter((each) => each.configured)) {
    if (configured.some((each) => each.issuer === issuer)) continue
    await trustedIssuers.remove(id)
    act.audit('trusted_issuer_removed', { detail: issuer })
  }
  for (const settings of configured) {
    const { issuer } = settings
    const current = stored.find((each) => each.issuer === issuer)
    if (!current) {
      const added = { id: randomUUID(), createdAtMs: act.clock.now(), configured: true, ...settings }
      await trustedIssuers.create(added)
      act.audit('trusted_issuer_added', { detail: issuer, changes: changesOf(settings) })
      continue
    }
    const next = { id: current.id, createdAtMs: current.createdAtMs, configured: true, ...settings }
    if (isDeepStrictEqual(next, current)) continue
    await trustedIssuers.replace(next)
    act.audit('trusted_issuer_changed', { detail: issuer, changes: changesFrom(current, settings) })
  }
}

/** Also of its rules. */
export function issuerRevision({
  issuer,
  jwksUrl,
  jwks,
  audiences,
  detectReplay,
  rules,
}: TrustedIssuerSettings): string {
  return revisionOf({ issuer, jwksUrl, jwks, audiences, detectReplay, rules })
}
