import { ProtocolError } from '../protocol/protocol-error.ts'
import { sameHash, type Keyring } from '../secret-hashing/keyring.ts'
import type { Caller } from './authenticate-application.ts'
import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import type { Credentials, PresentedCredentials } from './presented-credentials.ts'

/** An API that accepts tokens, and may introspect them (RFC 7662 section 2.1). */
export interface ResourceServerOptions {
  readonly clientId: string
  readonly clientSecret: string
}

/** Resolves with the client ID of the resource server. */
export type AuthenticateResourceServer = (
  credentials: PresentedCredentials,
  caller: Caller,
) => Promise<string>

/** Authenticates an API that introspects tokens (RFC 7662 section 2.1). */
export function createResourceServerAuthenticator(
  resourceServers: readonly ResourceServerOptions[],
  keyring: Keyring,
  failedAttempts: FailedAttemptLimit,
): AuthenticateResourceServer {
  const known = new Map(
    resourceServers.map(({ clientId, clientSecret }) => [clientId, keyring.hash(clientSecret)]),
  )
  const unknownHash = keyring.hash('')

  function isValid({ clientId, clientSecret }: Credentials): boolean {
    const server = known.get(clientId)
    const stored = server ?? unknownHash
    const presented = keyring.hashes(clientSecret).get(stored.keyId)
    return presented !== undefined && sameHash(stored.hash, presented) && server !== undefined
  }

  return async (credentials, { address }) => {
    if ('assertion' in credentials) throw new ProtocolError('invalid_client')
    const { clientId, verbatim } = credentials
    if (isValid(credentials)) return clientId
    if (verbatim && isValid(verbatim)) return verbatim.clientId
    await failedAttempts.failed(address, clientId)
    throw new ProtocolError('invalid_client', { clientId: known.has(clientId) ? clientId : undefined })
  }
}
