import type { RegisteredClient, StoredSecret } from '../applications/application.ts'
import type { Clock } from '../platform/clock.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import { sameHash, type Keyring } from '../keys/keyring.ts'
import type { ApplicationStorage } from '../storage/storage.ts'
import type { FailureGuard } from './failure-guard.ts'
import type { PresentedCredentials } from './presented-credentials.ts'

export interface AuthenticatedClient extends RegisteredClient {
  readonly secret: StoredSecret
}

export type AuthenticateApplication = (
  credentials: PresentedCredentials,
  address: string,
) => Promise<AuthenticatedClient>

export interface ApplicationAuthenticatorContext {
  readonly applications: ApplicationStorage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly guard: FailureGuard
}

/** Authenticates an application by its secret; only the owner of a valid secret learns more than `invalid_client`. */
export function createApplicationAuthenticator(
  context: ApplicationAuthenticatorContext,
): AuthenticateApplication {
  const { applications, keyring, clock, guard } = context
  const unknownSecret: StoredSecret = {
    id: '',
    applicationId: '',
    prefix: '',
    createdAtMs: 0,
    ...keyring.hash(''),
  }

  return async ({ clientId, clientSecret }, address) => {
    const [client] = await Promise.all([applications.findClient(clientId), guard.check(address, clientId)])
    const presented = keyring.hashes(clientSecret)
    // For an unknown client a hash is compared too: the response takes as long as for a wrong secret.
    const stored = client && client.secrets.length > 0 ? client.secrets : [unknownSecret]
    const matching = stored.filter((secret) => matches(secret, presented)).at(-1)
    if (!client || !matching || matching === unknownSecret) {
      await guard.failed(address, clientId)
      throw new ProtocolError('invalid_client', { clientId: client?.application.clientId })
    }
    if (matching.expiresAtMs !== undefined && matching.expiresAtMs <= clock.now()) {
      throw new ProtocolError('expired_secret', { clientId })
    }
    return { ...client, secret: matching }
  }
}

function matches(stored: StoredSecret, presented: ReadonlyMap<string, Buffer>): boolean {
  const hash = presented.get(stored.keyId)
  return hash !== undefined && sameHash(stored.hash, hash)
}
