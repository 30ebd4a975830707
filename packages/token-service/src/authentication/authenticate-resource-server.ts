import { ProtocolError } from '../protocol/protocol-error.ts'
import { sameHash, type Keyring } from '../keys/keyring.ts'
import type { FailureGuard } from './failure-guard.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

/** An API that accepts tokens, and may introspect them (RFC 7662 section 2.1). */
export interface ResourceServerOptions {
  readonly clientId: string
  readonly clientSecret: string
}

export type AuthenticateResourceServer = (credentials: PresentedCredentials, address: string) => Promise<void>

/** Authenticates an API that introspects tokens (RFC 7662 section 2.1). */
export function createResourceServerAuthenticator(
  resourceServers: readonly ResourceServerOptions[],
  keyring: Keyring,
  guard: FailureGuard,
): AuthenticateResourceServer {
  const known = new Map(
    resourceServers.map(({ clientId, clientSecret }) => [clientId, keyring.hash(clientSecret)]),
  )
  const unknownHash = keyring.hash('')

  return async ({ clientId, clientSecret }, address) => {
    await guard.check(address, clientId)
    const server = known.get(clientId)
    const stored = server ?? unknownHash
    const presented = keyring.hashes(clientSecret).get(stored.keyId)
    if (presented && sameHash(stored.hash, presented) && server) return
    await guard.failed(address, clientId)
    throw new ProtocolError('invalid_client', { clientId: server && clientId })
  }
}
