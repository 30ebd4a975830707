import type { RegisteredClient, StoredSecret } from '../applications/application.ts'
import type { AuthenticateByAssertion } from './authenticate-by-assertion.ts'
import { sameHash, type Keyring } from '../secret-hashing/keyring.ts'
import type { Clock } from '../platform/clock.ts'
import { ProtocolError } from '../protocol/protocol-error.ts'
import type { ApplicationStorage } from '../storage/storage.ts'
import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import type { Credentials, PresentedCredentials, PresentedSecret } from './presented-credentials.ts'

export interface AuthenticatedClient extends RegisteredClient {
  /** The secret or the public key that it was authenticated by. */
  readonly credential: { readonly id: string; readonly expiresAtMs?: number | undefined }
}

export interface Caller {
  readonly address: string
  /** The values of `aud` in an assertion that mean this service. */
  readonly audiences: () => readonly string[]
}

export type AuthenticateApplication = (
  credentials: PresentedCredentials,
  caller: Caller,
) => Promise<AuthenticatedClient>

export interface ApplicationAuthenticatorContext {
  readonly applications: ApplicationStorage
  readonly keyring: Keyring
  readonly clock: Clock
  readonly failedAttempts: FailedAttemptLimit
  readonly authenticateByAssertion: AuthenticateByAssertion
}

/** Authenticates an application by its secret or key; only the owner of a valid one learns more than `invalid_client`. */
export function createApplicationAuthenticator(
  context: ApplicationAuthenticatorContext,
): AuthenticateApplication {
  const { applications, keyring, clock, failedAttempts, authenticateByAssertion } = context
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
    return isKnown ? { ...client, credential: secret } : client?.application.clientId
  }

  async function authenticateBySecret(credentials: PresentedSecret, address: string) {
    const { clientId, verbatim } = credentials
    let found = await find(credentials)
    if (verbatim && typeof found !== 'object') found = (await find(verbatim)) ?? found
    if (typeof found !== 'object') {
      await failedAttempts.failed(address, clientId)
      throw new ProtocolError('invalid_client', { clientId: found })
    }
    const { expiresAtMs = Infinity } = found.credential
    if (expiresAtMs <= clock.now()) {
      throw new ProtocolError('expired_secret', { clientId: found.application.clientId })
    }
    return found
  }

  return async (credentials, caller) => {
    if (!('assertion' in credentials)) return authenticateBySecret(credentials, caller.address)
    const { client, key } = await authenticateByAssertion(credentials, caller, async (clientId) => {
      const found = await applications.findClient(clientId)
      return found && { ...found, keys: found.application.keys }
    })
    return { ...client, credential: key }
  }
}

function matches(stored: StoredSecret, presented: ReadonlyMap<string, Buffer>): boolean {
  const hash = presented.get(stored.keyId)
  return hash !== undefined && sameHash(stored.hash, hash)
}
