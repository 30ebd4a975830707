import { ProtocolError } from '../http/protocol-error.ts'
import { sameHash, type Keyring } from '../keys/keyring.ts'
import type { ResourceServerOptions } from '../token-service-options.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

/** Proves someone who may ask about tokens (RFC 7662 section 2.1). */
export function createResourceServerAuthenticator(
  resourceServers: readonly ResourceServerOptions[],
  keyring: Keyring,
): (credentials: PresentedCredentials) => void {
  const known = new Map(
    resourceServers.map(({ clientId, clientSecret }) => [clientId, keyring.hash(clientSecret)]),
  )
  const nobody = keyring.hash('')

  return ({ clientId, clientSecret }) => {
    const server = known.get(clientId)
    const stored = server ?? nobody
    const presented = keyring.hashes(clientSecret).get(stored.keyId)
    if (!presented || !sameHash(stored.hash, presented) || !server) throw new ProtocolError('invalid_client')
  }
}
