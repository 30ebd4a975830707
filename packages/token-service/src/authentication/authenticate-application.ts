import type { RegisteredClient, StoredSecret } from '../applications/application.ts'
import type { Clock } from '../clock.ts'
import { ProtocolError } from '../http/protocol-error.ts'
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

/** Proves an application by its secret; says more than "wrong" only to who knows a right one. */
export function createApplicationAuthenticator(
  context: ApplicationAuthenticatorContext,
): AuthenticateApplication {
  const { applications, keyring, clock, guard } = context
  const nobody: StoredSecret = { id: '', applicationId: '', prefix: '', createdAtMs: 0, ...keyring.hash('') }

  return async ({ clientId, clientSecret }, address) => {
    const [client] = await Promise.all([applications.findClient(clientId), guard.check(address, clientId)])
    const presented = keyring.hashes(clientSecret)
    // An unknown client costs a comparison too, so that it takes as long as a wrong secret.
    const stored = client && client.secrets.length > 0 ? client.secrets : [nobody]
    const matching = stored.filter((secret) => matches(secret, presented)).at(-1)
    if (!client || !matching || matching === nobody) {
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
