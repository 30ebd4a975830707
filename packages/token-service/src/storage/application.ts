import { skeleton, unifiedName } from '../runtime/lookalikes.ts'
import type { JsonWebKey } from 'node:crypto'

export type ApplicationStatus = 'approved' | 'pending' | 'revoked'

/** The format of the token response: with a list of products, with level and refresh token, or that of RFC 6749. */
export type ResponseForm = 'products' | 'refresh' | 'rfc6749'

/** Opaque tokens can only be introspected; APIs verify JWTs themselves (RFC 9068). */
export type TokenFormat = 'opaque' | 'jwt'

/** Whether tokens are bound to the key of a DPoP proof (RFC 9449): never, if the request has a proof, or always. */
export type DpopUse = 'none' | 'allowed' | 'required'

/** A group of applications, with the organisation and developer that token responses name. */
export interface Project {
  readonly id: string
  readonly name: string
  readonly organizationName: string
  readonly developerEmail: string
  readonly createdAtMs: number
  /** Set while the project is being deleted: until this time, it can be restored. */
  readonly deletesAtMs?: number | undefined
  readonly deletedBy?: DeletedBy | undefined
}

/** What must be unique among the names of all projects: names that look alike have the same. */
export function projectNameKey(name: string): string {
  return skeleton(unifiedName(name).replaceAll(/\s+/g, ' ').trim())
}

/** When something is deleted, and by whom; `null` cancels the deletion. */
export interface Deletion {
  readonly deletesAtMs?: number | null | undefined
  readonly deletedBy?: DeletedBy | null | undefined
}

/** What an administrator deletes, only an administrator restores. */
export type DeletedBy = 'owner' | 'administrator'

/** What an approval grants, and what token responses state of the application. */
export interface Approval {
  readonly name: string
  readonly level: string
  /** Those of its project when it was approved. */
  readonly organizationName: string
  readonly developerEmail: string
  readonly products: readonly string[]
  /** RFC 6749, section 3.3. */
  readonly scopes: readonly string[]
  readonly lifetimeSeconds: number
  readonly tokenFormat: TokenFormat
  /** The APIs that its tokens can be for (`aud`); without any, opaque tokens name no API. */
  readonly audiences: readonly string[]
  readonly dpop: DpopUse
}

/**
 * What an approved application gets at once, and what needs approval again: a longer lifetime, more names, weaker binding, any other
 * value. The type check names a missing field.
 */
export const needsApproval = {
  name: 'other',
  level: 'other',
  organizationName: 'other',
  developerEmail: 'other',
  products: 'more',
  scopes: 'more',
  lifetimeSeconds: 'longer',
  tokenFormat: 'other',
  audiences: 'more',
  dpop: 'weaker',
} as const satisfies Record<keyof Approval, 'longer' | 'more' | 'weaker' | 'other'>

export const approvedFields = Object.keys(needsApproval) as (keyof Approval)[]

/** What of an application is approved. */
export function approvalOf(application: Approval): Approval {
  return Object.fromEntries(approvedFields.map((field) => [field, application[field]])) as unknown as Approval
}

/** What was written about the last request of an approval. */
export interface Review {
  /** What its owner wrote. */
  readonly note?: string | undefined
  /** When changes, or another approval, were requested; a new application was requested when it was created. */
  readonly requestedAtMs?: number | undefined
  /** Set if an administrator declined it. */
  readonly declined?: Decline | undefined
}

export interface Decline {
  /** What the administrator wrote. */
  readonly reason?: string | undefined
  /** The changes that were declined; without any, it was the application itself. */
  readonly requested?: Approval | undefined
  /** The application's revision afterwards: until it changes, the decision can be undone. */
  readonly revision: number
}

export interface Application extends Approval {
  readonly id: string
  readonly projectId: string
  readonly clientId: string
  readonly status: ApplicationStatus
  readonly responseForm: ResponseForm
  readonly createdAtMs: number
  /** What the owner requests beyond the approval; the approval stays in effect until an administrator decides. */
  readonly requested?: Approval | undefined
  readonly review?: Review | undefined
  /** Counts the changes. */
  readonly revision: number
  /** Tokens of an earlier generation are revoked. */
  readonly tokenGeneration: number
  /** Set while the application is being deleted: until this time, it can be restored. */
  readonly deletesAtMs?: number | undefined
  readonly deletedBy?: DeletedBy | undefined
  /** For applications that authenticate with assertions (`private_key_jwt`). */
  readonly keys: readonly PublicKey[]
  /** Further claims of its JWTs. */
  readonly claims: Readonly<Record<string, unknown>>
}

/** What the owner of an application chooses: whatever is added to an application, unless it is named here. */
export type ApplicationSettings = Omit<
  Application,
  | 'id'
  | 'projectId'
  | 'clientId'
  | 'status'
  | 'createdAtMs'
  | 'requested'
  | 'review'
  | 'revision'
  | 'tokenGeneration'
  | 'deletesAtMs'
  | 'deletedBy'
  | 'keys'
  | 'claims'
  | 'organizationName'
  | 'developerEmail'
>

/** What expires within this time expires soon: lists, badges and figures agree about it. */
export const expiresSoonMs = 30 * 86_400_000

/** A client secret as it is stored: a hash. */
export interface StoredSecret {
  readonly id: string
  /** The ID of the application or resource server. */
  readonly ownerId: string
  readonly keyId: string
  readonly hash: string
  /** The first characters, by which its owner recognises it. */
  readonly prefix: string
  readonly createdAtMs: number
  readonly expiresAtMs?: number | undefined
}

/** An application that is being deleted, or whose project is, cannot get tokens. */
export function isBeingDeleted({
  application,
  project,
}: Readonly<Record<'application' | 'project', Pick<Deletion, 'deletesAtMs'>>>): boolean {
  return (application.deletesAtMs ?? project.deletesAtMs) !== undefined
}

/** Everything that the token endpoint needs to know about a client, in one read. */
export interface RegisteredClient {
  readonly application: Application
  readonly project: Project
  readonly secrets: readonly StoredSecret[]
  /** The APIs that its scopes belong to, by scope; those of other scopes are not listed. */
  readonly scopeAudiences: ReadonlyMap<string, string>
}

/** A public key, or the URL of a JWK set (RFC 7517, section 5). */
export type KeyMaterial = { readonly jwk: PublicJwk } | { readonly jwksUrl: string }

/** The members of a public JWK that matter here. */
export type PublicJwk = JsonWebKey & { readonly kid?: string; readonly alg?: string }

/** A registered key of a client that authenticates with assertions (`private_key_jwt`). */
export type PublicKey = KeyMaterial & {
  readonly id: string
  /** Given by its owner, or else its own ID, its thumbprint or URL. */
  readonly name: string
  readonly createdAtMs: number
  readonly expiresAtMs?: number | undefined
  /** From the configuration. */
  readonly configured?: boolean | undefined
}

/** A part of a JWT's claims: `{ sub: 'repo:example/orders:*', 'kubernetes.io': { namespace: 'orders' } }`. */
export interface ClaimPatterns {
  readonly [claim: string]: string | number | boolean | ClaimPatterns
}

/** Which application a JWT stands for. */
export interface IdentityRule {
  readonly clientId: string
  /** All of them must be in the JWT; of a list, one member. A `*` at the end stands for any rest. */
  readonly claims: ClaimPatterns
}

/** A JWK set (RFC 7517, section 5). */
export interface KeySet {
  readonly keys: readonly { readonly kty: string; readonly [member: string]: unknown }[]
}

/** An issuer whose JWTs are exchanged for access tokens (RFC 7523, section 2.1). */
export interface TrustedIssuer {
  readonly id: string
  /** The `iss` of its JWTs. */
  readonly issuer: string
  /** The URL of its JWK set; `undefined`: the one in its metadata. */
  readonly jwksUrl?: string | undefined
  /** Its JWK set, instead of a URL. */
  readonly jwks?: KeySet | undefined
  /** The `aud` of its JWTs; without any, this service's issuer or token endpoint. */
  readonly audiences: readonly string[]
  /** Whether each JWT is accepted once; it then needs a `jti`. */
  readonly detectReplay: boolean
  readonly rules: readonly IdentityRule[]
  /** Whether it is in the configuration, which alone changes it. */
  readonly configured: boolean
  readonly createdAtMs: number
}
