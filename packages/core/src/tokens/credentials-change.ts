import type { TokenError } from '../protocol/token-error.ts'

const checks = new WeakMap<TokenError, () => Promise<boolean>>()

/** Lets the source of a refused credential say, on each call during the hold, whether it has changed since. */
export function onCredentialsChange(error: TokenError, changed: () => Promise<boolean>): void {
  checks.set(error, changed)
}

/** Whether the credentials that `error` is about are others by now. A check that fails counts as no. */
export async function credentialsChanged(error: TokenError): Promise<boolean> {
  try {
    return (await checks.get(error)?.()) ?? false
  } catch {
    return false
  }
}
