import type { RegisteredClient, StoredSecret } from '../applications/application.ts'
import { sameHash, type Keyring } from '../keys/keyring.ts'
import type { Clock } from '../platform/clock.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import type { ApplicationStorage } from '../storage/storage.ts'
import type { FailureGuard } from './failure-guard.ts'
import type { Credentials, PresentedCredentials } from './presented-credentials.ts'

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

  async function find({
    clientId,
    clientSecret,
  }: Credentials): Promise<AuthenticatedClient | string | undefined> {
    const client = await applications.findClient(clientId)
    const presented = keyring.hashes(clientSecret)
    // For an unknown client a hash is compared too: the response takes as long as for a wrong secret.
    const stored = client && client.secrets.length > 0 ? client.secrets : [unknownSecret]
    const secret = stored.filter((each) => matches(each, presented)).at(-1)
    const isKnown = client && secret && secret !== unknownSecret
    return isKnown ? { ...client, secret } : client?.application.clientId
  }

  return async (credentials, address) => {
    const { clientId, verbatim } = credentials
    let found = await find(credentials)
    if (verbatim && typeof found !== 'object') found = (await find(verbatim)) ?? found
    if (typeof found !== 'object') {
      await guard.failed(address, clientId)
      throw new ProtocolError('invalid_client', { clientId: found })
    }
    const { expiresAtMs = Infinity } = found.secret
    if (expiresAtMs <= clock.now()) {
      throw new ProtocolError('expired_secret', { clientId: found.application.clientId })
    }
    return found
  }
}

function matches(stored: StoredSecret, presented: ReadonlyMap<string, Buffer>): boolean {
  const hash = presented.get(stored.keyId)
  return hash !== undefined && sameHash(stored.hash, hash)
}
