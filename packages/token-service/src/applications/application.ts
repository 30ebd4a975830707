export type ApplicationStatus = 'approved' | 'pending' | 'revoked'

/** Which of the two documented forms of the token response an application is answered in. */
export type ResponseForm = 'products' | 'refresh'

/** What groups applications: the organisation and developer that the token response names. */
export interface Project {
  readonly id: string
  readonly name: string
  readonly organizationName: string
  readonly developerEmail: string
  readonly createdAtMs: number
}

export interface Application {
  readonly id: string
  readonly projectId: string
  readonly name: string
  readonly clientId: string
  readonly status: ApplicationStatus
  readonly products: readonly string[]
  readonly level: string
  readonly responseForm: ResponseForm
  readonly lifetimeSeconds: number
  readonly createdAtMs: number
}

/** One of an application's live secrets, as it is kept: never the secret itself. */
export interface StoredSecret {
  readonly id: string
  readonly applicationId: string
  readonly keyId: string
  readonly hash: string
  /** The first characters, by which its owner tells it from the others. */
  readonly prefix: string
  readonly createdAtMs: number
  readonly expiresAtMs?: number | undefined
  readonly lastUsedAtMs?: number | undefined
}

/** Everything the token endpoint needs to know of a client, in one read. */
export interface RegisteredClient {
  readonly application: Application
  readonly project: Project
  readonly secrets: readonly StoredSecret[]
}
