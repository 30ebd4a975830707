import type { TokenError } from '../protocol/token-error.ts'

const checks = new WeakMap<TokenError, () => Promise<boolean>>()
const exempt = new WeakSet<TokenError>()

/** Lets the source of rejected credentials report, during the cooldown, whether they have changed since. */
export function onCredentialsChange(error: TokenError, changed: () => Promise<boolean>): void {
  checks.set(error, changed)
}

/** Reports whether the credentials that `error` is about have changed; undefined if the source cannot tell. */
export function credentialsCheck(error: TokenError): (() => Promise<boolean>) | undefined {
  return checks.get(error)
}

/** Marks an error after which the next caller may try again at once. */
export function exemptFromCooldown(error: TokenError): TokenError {
  exempt.add(error)
  return error
}

export function isExemptFromCooldown(error: TokenError): boolean {
  return exempt.has(error)
}
