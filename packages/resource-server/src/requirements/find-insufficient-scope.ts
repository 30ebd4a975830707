import type { TokenVerificationFailure } from '../rejection/token-verification-error.ts'
import type { VerifiedToken } from './verified-token.ts'

/** What a token must cover. */
export interface TokenRequirements {
  /** API products, all of which are required. */
  readonly products?: readonly string[] | undefined
  /** Scopes, all of which are required. */
  readonly scopes?: readonly string[] | undefined
}

/** What the token does not cover, if anything. */
export function findInsufficientScope(
  token: VerifiedToken,
  { products = none, scopes = none }: TokenRequirements,
): TokenVerificationFailure | undefined {
  const missingProducts = without(products, token.products)
  const missingScopes = without(scopes, token.scopes)
  if (missingProducts.length + missingScopes.length === 0) return undefined
  const missing = [
    named(missingProducts, 'the product', 'the products'),
    named(missingScopes, 'the scope', 'the scopes'),
  ]
  return {
    code: 'insufficient_scope',
    message: `The access token does not cover ${missing.filter(Boolean).join(' and ')}.`,
    scopes,
    missingProducts,
    missingScopes,
    clientId: token.clientId,
  }
}

const none: readonly string[] = []

function without(required: readonly string[], covered: readonly string[]): readonly string[] {
  return required.length === 0 ? none : required.filter((each) => !covered.includes(each))
}

function named(names: readonly string[], one: string, many: string): string {
  return names.length === 0 ? '' : `${names.length === 1 ? one : many} ${names.join(', ')}`
}
