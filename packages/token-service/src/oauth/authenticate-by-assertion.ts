import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import type { PresentedAssertion } from './presented-credentials.ts'
import type { Clock } from '../runtime/clock.ts'
import { ProtocolError } from './protocol-error.ts'
import type { AssertionStorage } from './assertion-storage.ts'
import type { PublicKey } from '../storage/application.ts'
import type { RemoteKeySets } from './remote-key-sets.ts'

export interface AssertionAuthenticatorContext {
  readonly assertions: AssertionStorage
  readonly clock: Clock
  readonly failedAttempts: FailedAttemptLimit
  readonly keySets: () => Promise<RemoteKeySets>
}

/** Authenticates a client with an assertion (`private_key_jwt`: RFC 7523); `find` reads the client that it names. */
export type AuthenticateByAssertion = <Found extends { readonly keys: readonly PublicKey[] }>(
  presented: PresentedAssertion,
  caller: { readonly address: string; readonly audiences: () => readonly string[] },
  find: (clientId: string) => Promise<Found | undefined>,
) => Promise<{ found: Found; key: PublicKey }>

export function createAssertionAuthenticator(
  context: AssertionAuthenticatorContext,
): AuthenticateByAssertion {
  const { assertions, clock, failedAttempts, keySets } = context

  return async ({ assertion, clientId: sent }, { address, audiences }, find) => {
    // Loaded on first use: most services never see an assertion.
    const { claimedClientId, invalidClaim, verifyAssertion } = await import('./verify-assertion.ts')

    const clientId = claimedClientId(assertion) ?? ''
    const found = clientId === '' || ![clientId, undefined].includes(sent) ? undefined : await find(clientId)
    const verified = await verifyAssertion(assertion, {
      clientId,
      keys: found?.keys ?? [],
      audiences: audiences(),
      nowMs: clock.now(),
      keySets: await keySets(),
    })
    if (!found || !verified) {
      await failedAttempts.failed(address, clientId)
      throw new ProtocolError('invalid_client', { clientId: found && clientId })
    }
    const { key, jti, expiresAtMs } = verified
    if (!(await assertions.use(`${clientId} ${jti}`, expiresAtMs))) throw invalidClaim('jti', clientId)
    return { found, key }
  }
}
