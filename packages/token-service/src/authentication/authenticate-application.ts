import type { RegisteredClient, StoredSecret } from '../applications/application.ts'
import type { Clock } from '../clock.ts'
import { ProtocolError } from '../http/protocol-error.ts'
import { sameHash, type Keyring } from '../keys/keyring.ts'
import type { ApplicationStorage } from '../storage/storage.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

export interface AuthenticatedClient extends RegisteredClient {
  readonly secret: StoredSecret
}

export type AuthenticateApplication = (credentials: PresentedCredentials) => Promise<AuthenticatedClient>

/** Proves an application by its secret; says more than "wrong" only to who knows a right one. */
export function createApplicationAuthenticator(
  storage: ApplicationStorage,
  keyring: Keyring,
  clock: Clock,
): AuthenticateApplication {
  const nobody: StoredSecret = { id: '', applicationId: '', prefix: '', createdAtMs: 0, ...keyring.hash('') }

  return async ({ clientId, clientSecret }) => {
    const client = await storage.findClient(clientId)
    const presented = keyring.hashes(clientSecret)

    // An unknown client costs one comparison too, so that it takes as long as a wrong secret.
    const stored = client && client.secrets.length > 0 ? client.secrets : [nobody]
    const matching = stored.filter((secret) => matches(secret, presented)).at(-1)
    if (!client || !matching || matching === nobody) throw new ProtocolError('invalid_client')
    if (matching.expiresAtMs !== undefined && matching.expiresAtMs <= clock.now()) {
      throw new ProtocolError('expired_secret')
    }
    return { ...client, secret: matching }
  }
}

function matches(stored: StoredSecret, presented: ReadonlyMap<string, Buffer>): boolean {
  const hash = presented.get(stored.keyId)
  return hash !== undefined && sameHash(stored.hash, hash)
}
