import { isBeingDeleted } from '../storage/application.ts'
import type { CurrentClient, FoundToken, StoredToken } from './token-storage.ts'

/** What tokens can be for. */
export type Access = Pick<StoredToken, 'products' | 'scopes' | 'audiences'>

/**
 * What an application may do now: nothing else decides it when a token is issued, and while it is used. `undefined`: it may get no tokens,
 * and those that it has are inactive.
 */
export function currentAccess({ application, project, scopeAudiences }: CurrentClient): Access | undefined {
  const { status, products, scopes, audiences } = application
  if (status !== 'approved' || isBeingDeleted({ application, project })) return undefined
  // An approved scope includes its API.
  return { products, scopes, audiences: [...new Set([...audiences, ...scopeAudiences.values()])] }
}

/**
 * What a token is for now: what it was issued for, without what was taken from its application since. `undefined`: it is not active.
 */
export function activeAccess(found: FoundToken, nowMs: number): Access | undefined {
  const { token, application, scopeAudiences, secretExpiresAtMs = Infinity } = found
  const access = currentAccess(found)
  if (!access || Math.min(token.expiresAtMs, secretExpiresAtMs) <= nowMs) return undefined
  if (application.tokenGeneration !== token.generation) return undefined
  const products = token.products.filter((product) => access.products.includes(product))
  const scopes = token.scopes.filter((scope) => access.scopes.includes(scope))
  // Opaque tokens may name no API.
  if (token.audiences.length === 0) return { products, scopes, audiences: [] }
  const audiences = token.audiences.filter((audience) => access.audiences.includes(audience))
  if (audiences.length === 0) return undefined
  const isForThem = (scope: string) => audiences.includes(scopeAudiences.get(scope) ?? audiences[0]!)
  return { products, scopes: scopes.filter(isForThem), audiences }
}
