import type { Keyring } from '../runtime/keyring.ts'
import type { PublicKey } from '../storage/application.ts'
import type { ActivityRecorder } from '../storage/activity-recorder.ts'
import type { Clock } from '../runtime/clock.ts'
import { ProtocolError } from './protocol-error.ts'
import type { AuthenticateByAssertion } from './authenticate-by-assertion.ts'
import type { FailedAttemptLimit } from './failed-attempt-limit.ts'
import type {
  Credentials,
  PresentedAssertion,
  PresentedCredentials,
  PresentedSecret,
} from './presented-credentials.ts'

interface Secret {
  readonly id: string
  readonly keyId: string
  readonly hash: string
  readonly expiresAtMs?: number | undefined
}

/** An application or a resource server, and what it can authenticate with. */
export interface FoundClient<Client> {
  readonly client: Client
  readonly secrets: readonly Secret[]
  readonly keys: readonly PublicKey[]
}

export interface AuthenticatedClient<Client> {
  readonly client: Client
  /** The secret or the public key that authenticated it. */
  readonly credential: { readonly id: string; readonly expiresAtMs?: number | undefined }
}

export interface Caller {
  readonly address: string
  /** The values of `aud` in an assertion that mean this service. */
  readonly audiences: () => readonly string[]
}

export type AuthenticateClient<Client> = (
  credentials: PresentedCredentials,
  caller: Caller,
) => Promise<AuthenticatedClient<Client>>

export interface ClientAuthenticatorContext {
  readonly keyring: Keyring
  readonly clock: Clock
  readonly failedAttempts: FailedAttemptLimit
  readonly activity: Pick<ActivityRecorder, 'rehash'>
  readonly authenticateByAssertion: AuthenticateByAssertion
}

/** Authenticates a client with an assertion that somebody else issued; `undefined` if it is the client's own. */
export type AuthenticateByIssuer<Client> = (
  presented: PresentedAssertion,
  caller: Caller,
) => Promise<AuthenticatedClient<Client> | undefined>

/** Authenticates clients by their secret or key; only the owner of a valid one learns more than `invalid_client`. */
export function createClientAuthenticator<Client>(
  find: (clientId: string) => Promise<FoundClient<Client> | undefined>,
  { keyring, clock, failedAttempts, activity, authenticateByAssertion }: ClientAuthenticatorContext,
  authenticateByIssuer: AuthenticateByIssuer<Client> = async () => undefined,
): AuthenticateClient<Client> {
  const unknownSecret: Secret = { id: '', ...keyring.hash('') }

  async function check({
    clientId,
    clientSecret,
  }: Credentials): Promise<
    | (AuthenticatedClient<Client> & { clientId: string; credential: Secret; clientSecret: string })
    | string
    | undefined
  > {
    const found = await find(clientId)
    // For an unknown client, a hash is compared too, so that the response takes as long as for a wrong secret.
    const stored = found && found.secrets.length > 0 ? found.secrets : [unknownSecret]
    const credential = keyring.matching(stored, clientSecret).at(-1)
    if (!found) return undefined
    const isKnown = credential && credential !== unknownSecret
    return isKnown ? { client: found.client, clientId, credential, clientSecret } : clientId
  }

  async function authenticateBySecret(
    credentials: PresentedSecret,
    address: string,
  ): Promise<AuthenticatedClient<Client>> {
    const { clientId, verbatim } = credentials
    let found = await check(credentials)
    if (verbatim && typeof found !== 'object') found = (await check(verbatim)) ?? found
    if (typeof found !== 'object') {
      await failedAttempts.failed(address, clientId)
      throw new ProtocolError('invalid_client', { clientId: found })
    }
    const { expiresAtMs } = found.credential
    if (expiresAtMs !== undefined && expiresAtMs <= clock.now())
      throw new ProtocolError('expired_secret', { clientId: found.clientId })
    const { id, keyId, hash: oldHash } = found.credential
    // Outside of the request: an older key is no longer needed once every client has been here.
    if (keyId !== keyring.keyIds[0]) activity.rehash({ id, oldHash, ...keyring.hash(found.clientSecret) })
    return found
  }

  return async (credentials, caller) => {
    if (!('assertion' in credentials)) return authenticateBySecret(credentials, caller.address)
    const authenticated = await authenticateByIssuer(credentials, caller)
    if (authenticated) return authenticated
    const { found, key } = await authenticateByAssertion(credentials, caller, find)
    return { client: found.client, credential: key }
  }
}
