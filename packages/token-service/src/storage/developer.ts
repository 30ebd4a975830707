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
