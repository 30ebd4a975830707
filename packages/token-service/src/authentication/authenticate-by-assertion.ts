import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import type { Clock } from '../platform/clock.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import type { AssertionStorage } from '../storage/storage.ts'
import type { PublicKey } from '../keys/public-key.ts'
import type { RemoteKeySets } from './remote-key-sets.ts'

export interface AssertionAuthenticatorContext {
  readonly assertions: AssertionStorage
  readonly clock: Clock
  readonly failedAttempts: FailedAttemptLimit
  /** Fetches JWK sets. @default the global `fetch` */
  readonly fetchKeys?: typeof fetch | undefined
}

/** Authenticates a client by an assertion (`private_key_jwt`: RFC 7523); `find` reads the client that it names. */
export type AuthenticateByAssertion = <Client extends { readonly keys: readonly PublicKey[] }>(
  presented: { readonly assertion: string; readonly clientId: string | undefined },
  caller: { readonly address: string; readonly audiences: () => readonly string[] },
  find: (clientId: string) => Promise<Client | undefined>,
) => Promise<{ client: Client; key: PublicKey }>

export function createAssertionAuthenticator(
  context: AssertionAuthenticatorContext,
): AuthenticateByAssertion {
  const { assertions, clock, failedAttempts, fetchKeys } = context
  let keySets: RemoteKeySets | undefined

  return async ({ assertion, clientId: sent }, { address, audiences }, find) => {
    // Loaded on first use: most services never see an assertion.
    const { claimedClientId, invalidClaim, verifyAssertion } = await import('./verify-assertion.ts')
    const { createRemoteKeySets } = await import('./remote-key-sets.ts')
    keySets ??= createRemoteKeySets(fetchKeys)

    const clientId = claimedClientId(assertion)
    const client =
      clientId === undefined || ![clientId, undefined].includes(sent) ? undefined : await find(clientId)
    const verified =
      client &&
      clientId !== undefined &&
      (await verifyAssertion(assertion, {
        clientId,
        keys: client.keys,
        audiences: audiences(),
        nowMs: clock.now(),
        keySets,
      }))
    if (!verified) {
      await failedAttempts.failed(address, clientId ?? '')
      throw new ProtocolError('invalid_client', { clientId: client && clientId })
    }
    const { key, jti, expiresAtMs } = verified
    if (!(await assertions.use(`${clientId} ${jti}`, expiresAtMs))) throw invalidClaim('jti', clientId)
    return { client, key }
  }
}
