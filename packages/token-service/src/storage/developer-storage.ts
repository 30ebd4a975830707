/** Who logs in to the developer portal. */
export interface Developer {
  readonly id: string
  /** As it is typed at log-in, in lower case. */
  readonly name: string
  readonly passwordHash: string
  /** Sees every project, approves applications, invites others; there is one, the first. */
  readonly administrator: boolean
  readonly createdAtMs: number
}

/** A link by which somebody becomes a developer: its digest, never the link itself. */
export interface Invitation {
  readonly hash: string
  readonly administrator: boolean
  readonly expiresAtMs: number
}

/** A link by which a developer who forgot the password sets another: its digest, never the link itself. */
export interface PasswordLink {
  readonly hash: string
  readonly developerId: string
  readonly expiresAtMs: number
}

/** The project is one of the developer's own. */
export interface Membership {
  readonly developerId: string
  readonly projectId: string
}

export interface DeveloperStorage {
  /** The first to join first. */
  list(): Promise<Developer[]>
  find(name: string): Promise<Developer | undefined>
  /** Uses the invitation up, unless the name is taken; `void`: it was used, has ended, or came too late. */
  join(developer: Developer, invitationHash: string, nowMs: number): Promise<'joined' | 'name_taken' | 'void'>
  /** Sets the password and deletes the developer's password links. */
  changePassword(id: string, passwordHash: string): Promise<void>
  /** With the developer go the sessions; projects stay. */
  remove(id: string): Promise<void>
  invite(invitation: Invitation): Promise<void>
  findInvitation(hash: string, nowMs: number): Promise<Invitation | undefined>
  /** Makes the project one of the developer's own. */
  addProject(developerId: string, projectId: string): Promise<void>
  projectIds(developerId: string): Promise<string[]>
  /** Every developer's projects. */
  memberships(): Promise<Membership[]>
  /** The project is not one of the developer's own any more. */
  removeProject(developerId: string, projectId: string): Promise<void>
  addPasswordLink(link: PasswordLink): Promise<void>
  /** Whose password it sets, while it is good. */
  findPasswordLink(hash: string, nowMs: number): Promise<Developer | undefined>
  /**
   * Sets the password, ends the developer's sessions, and uses up this link and every other of that developer's;
   * `undefined`: it was used, has ended, or came too late.
   */
  usePasswordLink(hash: string, passwordHash: string, nowMs: number): Promise<Developer | undefined>
  /** Deletes the invitations and password links that ended by `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
}

export interface Session {
  readonly hash: string
  readonly developerId: string
  readonly expiresAtMs: number
}

export interface SessionStorage {
  open(session: Session): Promise<void>
  /** Whose session it is, while it lasts. */
  find(hash: string, nowMs: number): Promise<Developer | undefined>
  close(hash: string): Promise<void>
  closeAll(developerId: string): Promise<void>
  /** Deletes what expired by `nowMs`; returns how many. */
  purge(nowMs: number): Promise<number>
}
