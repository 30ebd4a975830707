import { UsageError } from '../runtime/usage-error.ts'

/** A user of the developer portal. */
export interface Developer {
  readonly id: string
  /** As typed at login, in lower case. */
  readonly name: string
  /** Empty: the developer has no password. */
  readonly passwordHash: string
  /** Sees every project, approves applications, invites others; the first developer is one. */
  readonly administrator: boolean
  readonly createdAtMs: number
}

/** Who somebody is at an OpenID provider: never the e-mail address, which may belong to somebody else later. */
export interface Identity {
  readonly issuer: string
  readonly subject: string
}

/** A link with which somebody becomes a developer: its digest, never the link itself. `createdBy`: the ID of an administrator. */
export interface Invitation {
  readonly hash: string
  /** Whom it is for, as the administrator wrote it. */
  readonly name?: string | undefined
  readonly administrator: boolean
  readonly expiresAtMs: number
  readonly createdBy?: string | undefined
}

/** The same with which a developer who forgot the password sets another. */
export interface PasswordLink {
  readonly hash: string
  readonly developerId: string
  readonly expiresAtMs: number
  readonly createdBy?: string | undefined
}

/** Another developer has that name. */
export class NameTaken extends UsageError {}

export interface DeveloperStorage {
  /** In the order in which they joined. */
  list(): Promise<Developer[]>
  find(name: string): Promise<Developer | undefined>
  /**
   * Uses up the invitation. `false`: it has been used, has expired, or is for the first administrator, and there is one
   * by now. Throws {@link NameTaken}.
   */
  join(developer: Developer, invitationHash: string, nowMs: number): Promise<boolean>
  findByIdentity(identity: Identity): Promise<Developer | undefined>
  /** Adds a developer with that identity; `false` if there is one. Throws {@link NameTaken}. */
  joinByIdentity(developer: Developer, identity: Identity): Promise<boolean>
  /** Those with which a developer logs in. */
  identities(developerId: string): Promise<Identity[]>
  /** `false` if somebody has it. */
  addIdentity(developerId: string, identity: Identity): Promise<boolean>
  removeIdentity(developerId: string, identity: Identity): Promise<void>
  /** Sets the password, and deletes the developer's password links. */
  changePassword(id: string, passwordHash: string): Promise<void>
  /** Makes the developer an administrator, or a developer again; `false` if there would be no administrator left. */
  setAdministrator(id: string, administrator: boolean): Promise<boolean>
  /** Deletes the developer's sessions as well; projects remain. `false` if there would be no administrator left. */
  remove(id: string): Promise<boolean>
  invite(invitation: Invitation): Promise<void>
  findInvitation(hash: string, nowMs: number): Promise<Invitation | undefined>
  /** Those that can still be used, the first to expire first. */
  invitations(nowMs: number): Promise<Invitation[]>
  /** `false` if there is no such invitation. */
  withdrawInvitation(hash: string): Promise<boolean>
  /** Deletes the invitations and password links that this administrator created; returns how many invitations. */
  withdrawLinksOf(creatorId: string): Promise<number>
  /** Adds the project to those of the developer. */
  addProject(developerId: string, projectId: string): Promise<void>
  projectIds(developerId: string): Promise<string[]>
  /** The IDs of its owners. */
  ownerIds(projectId: string): Promise<string[]>
  /** The project no longer belongs to the developer. */
  removeProject(developerId: string, projectId: string): Promise<void>
  addPasswordLink(link: PasswordLink): Promise<void>
  /** The developer who can set a password with this link; undefined once it has been used or has expired. */
  findPasswordLink(hash: string, nowMs: number): Promise<Developer | undefined>
  /**
   * Sets the password, or keeps it, ends the developer's sessions, and consumes all password links of the developer;
   * `undefined`: the link has been used or has expired.
   */
  usePasswordLink(
    hash: string,
    passwordHash: string | undefined,
    nowMs: number,
  ): Promise<Developer | undefined>
  /** Deletes the invitations and password links that expired by `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
}

export interface Session {
  readonly hash: string
  readonly developerId: string
  readonly expiresAtMs: number
  readonly provider?: SessionOfProvider | undefined
  /** From where the developer logged in. */
  readonly address?: string | undefined
  /** With which browser, such as `Firefox on Linux`. */
  readonly browser?: string | undefined
}

/** What is known of a session that an OpenID provider began. */
export interface SessionOfProvider extends Identity {
  /** The provider's ID of its own session, if it states one. */
  readonly sid?: string | undefined
  /** Encrypted. */
  readonly idToken: string
}

/** Sessions that an OpenID provider began: of a person, of one session at the provider, or both. */
export type EndedAtProvider = Pick<Identity, 'issuer'> &
  (
    | { readonly subject: string; readonly sid?: string | undefined }
    | { readonly subject?: undefined; readonly sid: string }
  )

export interface SessionStorage {
  open(session: Session): Promise<void>
  /** The developer of the session, until it expires. */
  find(hash: string, nowMs: number): Promise<Developer | undefined>
  /** Those of the developer, the latest first. */
  list(developerId: string, nowMs: number): Promise<Omit<Session, 'provider'>[]>
  /** The encrypted ID token of the session, if it has one. */
  findIdToken(hash: string): Promise<string | undefined>
  findExpiry(hash: string): Promise<number | undefined>
  close(hash: string): Promise<void>
  closeAll(developerId: string): Promise<void>
  /** Returns the names of the developers who had such sessions. */
  closeOfProvider(ended: EndedAtProvider): Promise<string[]>
  /** Deletes what expired by `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
}
