import type { ProviderContext } from '../acquire/request-with-retries.ts'
import { timeoutError } from '../acquire/shared-request.ts'
import { configurationError } from '../protocol/token-error.ts'
import { waitFor } from '../runtime/timers.ts'
import type { AccessToken } from '../tokens/access-token.ts'

/** Revokes a token at its source, in one attempt. @throws {TokenError} if the source cannot, or if it fails */
export async function revokeToken({ source, settings }: ProviderContext, token: AccessToken): Promise<void> {
  const { attemptTimeoutMs, label } = settings
  if (!source.revokeToken) throw configurationError('The token source cannot revoke tokens.')
  const controller = new AbortController()
  const revocation = source.revokeToken(token.value, { signal: controller.signal, label })
  await waitFor(
    revocation,
    attemptTimeoutMs,
    undefined,
    () => timeoutError(attemptTimeoutMs),
    () => controller.abort(),
  )
}
