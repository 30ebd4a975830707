import type { FoundToken } from './token-storage.ts'

/** A token is active while the token itself, its secret and its application's approval are valid. */
export function isActive(
  { token, application, secretExpiresAtMs = Infinity }: FoundToken,
  nowMs: number,
): boolean {
  return (
    Math.min(token.expiresAtMs, secretExpiresAtMs) > nowMs &&
    application.status === 'approved' &&
    application.deletesAtMs === undefined &&
    application.tokenGeneration === token.generation
  )
}

/** The scopes that the token was issued for, except those that are no longer approved. */
export function validScopes({ token, application }: FoundToken): readonly string[] {
  return token.scopes.filter((scope) => application.scopes.includes(scope))
}

/** The products that the token was issued for, except those that are no longer approved. */
export function validProducts({ token, application }: FoundToken): readonly string[] {
  return token.products.filter((product) => application.products.includes(product))
}
