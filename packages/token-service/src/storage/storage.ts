import type {
  IdentityRule,
  Application,
  ApplicationSettings,
  Approval,
  DeletedBy,
  Project,
  Review,
  RegisteredClient,
  StoredSecret,
  PublicKey,
} from './application.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Database } from './sql/database.ts'
import type { DeveloperStorage, SessionStorage } from './developer-storage.ts'
import type { ActivityStorage } from './activity-storage.ts'
import type { AuditStorage } from './audit-storage.ts'
import type { ListingStorage } from './listing-storage.ts'
import type { PurgeTimeStorage } from './purge-time.ts'

/** An access token as it is kept: its digest, never the token itself. */
export interface StoredToken {
  readonly hash: string
  readonly applicationId: string
  /** The secret, the public key or the trusted issuer that it was issued for. */
  readonly secretId: string
  /** The application's token generation when it was issued. */
  readonly generation: number
  readonly products: readonly string[]
  readonly scopes: readonly string[]
  /** The APIs that it is for. */
  readonly audiences: readonly string[]
  /** Of the key that it is bound to (RFC 7638). */
  readonly keyThumbprint?: string | undefined
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** A token with its application and the expiry of its secret, as they are now. */
export interface FoundToken {
  readonly token: StoredToken
  readonly application: Application
  readonly secretExpiresAtMs?: number | undefined
}

/** When something is deleted, and by whom; `null` cancels the deletion. */
export interface Deletion {
  readonly deletesAtMs?: number | null | undefined
  readonly deletedBy?: DeletedBy | null | undefined
}

export type ProjectChanges = Partial<Omit<Project, 'id' | 'createdAtMs' | keyof Deletion>> & Deletion

export interface ProjectStorage {
  list(): Promise<Project[]>
  find(id: string): Promise<Project | undefined>
  /** The one whose name has the same {@link projectNameKey}. */
  findByName(name: string): Promise<Project | undefined>
  /** `false` if a project with that ID or name exists. */
  create(project: Project): Promise<boolean>
  update(id: string, changes: ProjectChanges): Promise<void>

  /** Deletes the projects and applications that can no longer be restored; returns how many. */
  purge(nowMs: number): Promise<number>
}

export type ApplicationChanges = Partial<
  Approval & ApplicationSettings & Pick<Application, 'projectId' | 'status' | 'keys' | 'claims'>
> &
  Deletion & {
    /** `null` removes the request. */
    readonly requested?: Approval | null | undefined
    /** `null` removes it. */
    readonly review?: Review | null | undefined
  }

/** A scope of the catalogue. */
export interface Scope {
  readonly name: string
  /** The API that it belongs to (`aud`); without one, it is of every API. */
  readonly audience?: string | undefined
  readonly description?: string | undefined
}

export interface ScopeStorage extends CatalogueStorage {
  /** In alphabetical order. */
  listScopes(): Promise<Scope[]>
  /** Adds it, or replaces it. */
  set(scope: Scope): Promise<void>
}

/** The API products, or the scopes, that applications can request. */
export interface CatalogueStorage {
  /** In alphabetical order. */
  list(): Promise<string[]>
  /** Does nothing for a name that exists. */
  add(names: readonly string[]): Promise<void>
  /** Applications that have it keep it. */
  remove(name: string): Promise<void>
}

export interface ApplicationStorage {
  /** The application with that client ID, and everything else that issuing a token requires, in one read. */
  findClient(clientId: string): Promise<RegisteredClient | undefined>
  list(projectId: string): Promise<RegisteredClient[]>
  /** Atomic; `false` if the client ID or the application's ID is taken. */
  create(application: Application, secrets: readonly StoredSecret[]): Promise<boolean>
  /** Does nothing and resolves with `false` if the application is no longer at the given revision. */
  update(id: string, changes: ApplicationChanges, revision?: number): Promise<boolean>
  /** Revokes every token that was issued until now. */
  revokeTokens(id: string): Promise<void>
  /** Every application, by client ID, in pages: those after the given client ID. */
  page(limit: number, afterClientId?: string): Promise<RegisteredClient[]>
  /** The applications of all these projects, in one read. */
  listOf(projectIds: readonly string[]): Promise<RegisteredClient[]>
  /** Those that an administrator has to decide on: pending, or with requested changes. */
  awaitingApproval(): Promise<RegisteredClient[]>
  /** The longest lifetime of JWTs; 0 if no application gets any. */
  longestJwtLifetimeSeconds(): Promise<number>
}

/** The secrets of applications and resource servers. */
export interface SecretStorage {
  /** `false` if there is one with that ID. */
  add(secret: StoredSecret): Promise<boolean>
  expire(id: string, expiresAtMs: number): Promise<void>
  /** Sets when all other secrets of its owner expire, unless they expire earlier. */
  expireOthers(secret: StoredSecret, expiresAtMs: number): Promise<void>
  remove(id: string): Promise<void>
}

export interface TokenStorage {
  /** Settles once the token would survive a crash of the service. */
  save(token: StoredToken): Promise<void>
  /** Also `undefined` if the token's secret, key or trusted issuer was removed. */
  find(hash: string): Promise<FoundToken | undefined>
  remove(hash: string): Promise<void>
  /** Deletes what expired by `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
  clear(): Promise<void>
}

export interface FailureCount {
  readonly count: number
  readonly resetsAtMs: number
}

/** Failed attempts by key, counted from the first one until the window ends. */
export interface FailureStorage {
  find(key: string, nowMs: number): Promise<FailureCount | undefined>
  /** Adds one; returns the count that includes it, so that each of several concurrent failures gets its own count. */
  add(key: string, nowMs: number, windowMs: number): Promise<FailureCount>
  purge(nowMs: number): Promise<number>
  clear(): Promise<void>
}

/** APIs that may introspect tokens. */
export interface ResourceServerStorage {
  find(clientId: string): Promise<ResourceServer | undefined>
  /** The oldest first. */
  list(): Promise<ResourceServer[]>
  /** Atomic; `false` if the client ID or the ID is taken. */
  create(server: ResourceServer): Promise<boolean>
  /** Does nothing and resolves with `false` if it is no longer at the given revision. */
  update(
    id: string,
    changes: Partial<Pick<ResourceServer, 'name' | 'keys'>> & {
      /** `null`: it may introspect every token. */
      readonly audiences?: readonly string[] | null | undefined
    },
    revision?: number,
  ): Promise<boolean>
  remove(id: string): Promise<void>
}

/** Assertions that clients have authenticated with, until they expire: each is accepted once. */
export interface AssertionStorage {
  /** Resolves with `false` if it has already been used. */
  use(assertion: string, expiresAtMs: number): Promise<boolean>
  purge(nowMs: number): Promise<number>
}

/** Issuers whose JWTs are exchanged for access tokens. */
export interface TrustedIssuerStorage {
  find(issuer: string): Promise<TrustedIssuer | undefined>
  /** In alphabetical order. */
  list(): Promise<TrustedIssuer[]>
  /** `false` if it is trusted already. */
  create(issuer: TrustedIssuer): Promise<boolean>
  /** Does nothing for an unknown ID. */
  replace(issuer: TrustedIssuer): Promise<void>
  /** Tokens that were issued for its JWTs are no longer found. */
  remove(id: string): Promise<void>
}

/** A key that JWTs are signed with. */
export interface StoredSigningKey {
  /** The thumbprint of the public key (RFC 7638). */
  readonly kid: string
  readonly algorithm: string
  /** The public key as a JWK, in JSON. */
  readonly publicKey: string
  /** The private key as a JWK, encrypted (RFC 7516). */
  readonly encryptedKey: string
  /** `next` and `last` keys are only published. */
  readonly state: 'next' | 'current' | 'last'
  readonly createdAtMs: number
  /** Until when a `last` key is published. */
  readonly expiresAtMs?: number | undefined
}

export interface SigningKeyStorage {
  list(): Promise<StoredSigningKey[]>
  add(keys: readonly StoredSigningKey[]): Promise<void>
  update(
    kid: string,
    changes: Partial<Pick<StoredSigningKey, 'state' | 'expiresAtMs' | 'encryptedKey'>>,
  ): Promise<void>
  remove(kids: readonly string[]): Promise<void>
  /** Deletes the `last` keys that expired by `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
}

/** What can be changed in one transaction. Until it ends, only its own parts may be called. */
export type Transaction = Pick<
  Storage,
  | 'projects'
  | 'products'
  | 'scopes'
  | 'applications'
  | 'secrets'
  | 'resourceServers'
  | 'trustedIssuers'
  | 'developers'
  | 'sessions'
  | 'signingKeys'
  | 'audit'
  | 'purgeTime'
>

/** Everything the service stores, behind one interface. */
export interface Storage {
  readonly database: Database
  readonly projects: ProjectStorage
  readonly products: CatalogueStorage
  readonly scopes: ScopeStorage
  readonly applications: ApplicationStorage
  readonly secrets: SecretStorage
  readonly tokens: TokenStorage
  readonly failures: FailureStorage
  readonly assertions: AssertionStorage
  readonly resourceServers: ResourceServerStorage
  readonly trustedIssuers: TrustedIssuerStorage
  readonly activity: ActivityStorage
  readonly developers: DeveloperStorage
  readonly sessions: SessionStorage

  readonly listings: ListingStorage
  readonly signingKeys: SigningKeyStorage
  readonly audit: AuditStorage
  readonly purgeTime: PurgeTimeStorage
  /**
   * Resolves once the storage can be used; until then every call rejects. Rejects if this version of the program cannot use
   * the database.
   */
  readonly opened: Promise<void>
  /** Writes something; rejects if the storage cannot be written to now. */
  probe(): Promise<void>
  close(): Promise<void>
}

/** What the migration of a storage needs. */
export interface MigrationContext {
  /** Signs the entry of the audit log. */
  readonly keyring: Keyring
  readonly clock: Clock
}

/** How a storage is opened. */
export interface OpenOptions extends MigrationContext {
  /** Called for failures that no caller gets to see. */
  readonly onError: (error: unknown) => void
  /** Runs once, after the migrations and before anything else; the storage is not opened if it rejects. */
  readonly prepare: (storage: Storage) => Promise<void>
}

/** An issuer whose JWTs are exchanged for access tokens (RFC 7523, section 2.1). */
export interface TrustedIssuer {
  readonly id: string
  /** The `iss` of its JWTs. */
  readonly issuer: string
  /** The URL of its JWK set; `undefined`: the one in its metadata. */
  readonly jwksUrl?: string | undefined
  /** The `aud` of its JWTs; without any, this service's issuer or token endpoint. */
  readonly audiences: readonly string[]
  /** Whether each JWT is accepted once; it then needs a `jti`. */
  readonly detectReplay: boolean
  readonly rules: readonly IdentityRule[]
  /** Whether it is in the configuration, which alone changes it. */
  readonly configured: boolean
  readonly createdAtMs: number
}

/** An API that accepts tokens, and may introspect them (RFC 7662, section 2.1). */
export interface ResourceServer {
  readonly id: string
  readonly clientId: string
  readonly name: string
  /** Tokens for other APIs are inactive for it; `undefined`: it may introspect every token. */
  readonly audiences?: readonly string[] | undefined
  readonly createdAtMs: number
  readonly secrets: readonly StoredSecret[]
  readonly keys: readonly PublicKey[]
  /** Counts the changes. */
  readonly revision: number
}
