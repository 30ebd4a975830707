import { ProtocolError } from '../http/protocol-error.ts'
import { sameHash, type Keyring } from '../keys/keyring.ts'
import type { ResourceServerOptions } from '../token-service-options.ts'
import type { FailureGuard } from './failure-guard.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

export type AuthenticateResourceServer = (credentials: PresentedCredentials, address: string) => Promise<void>

/** Proves someone who may ask about tokens (RFC 7662 section 2.1). */
export function createResourceServerAuthenticator(
  resourceServers: readonly ResourceServerOptions[],
  keyring: Keyring,
  guard: FailureGuard,
): AuthenticateResourceServer {
  const known = new Map(
    resourceServers.map(({ clientId, clientSecret }) => [clientId, keyring.hash(clientSecret)]),
  )
  const nobody = keyring.hash('')

  return async ({ clientId, clientSecret }, address) => {
    await guard.check(address, clientId)
    const server = known.get(clientId)
    const stored = server ?? nobody
    const presented = keyring.hashes(clientSecret).get(stored.keyId)
    if (presented && sameHash(stored.hash, presented) && server) return
    await guard.failed(address, clientId)
    throw new ProtocolError('invalid_client', { clientId: server && clientId })
  }
}
