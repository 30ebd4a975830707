import type { Generated } from 'kysely'
import type { Application, DeletedBy } from './application.ts'
import type { NameColumns } from './folded-name.ts'

/** The tables that the migrations create. Times are milliseconds since 1970; `0` and `1` are false and true. */
export interface Schema {
  projects: {
    id: string
    name: string
    organizationName: string
    developerEmail: string
    createdAtMs: number
    deletesAtMs: number | null
    deletedBy: DeletedBy | null
    /** The name in the form that must be unique. */
    nameKey: string
  } & NameColumns
  /** `products`, `scopes`, `audiences` and `keys` are JSON arrays, `requested`, `review` and `claims` are JSON objects. */
  applications: Omit<
    Application,
    | 'products'
    | 'scopes'
    | 'audiences'
    | 'requested'
    | 'review'
    | 'keys'
    | 'claims'
    | 'deletesAtMs'
    | 'deletedBy'
  > & {
    products: string
    scopes: string
    audiences: string
    requested: string | null
    review: string | null
    keys: string
    claims: string
    deletesAtMs: number | null
    deletedBy: DeletedBy | null
    /** When the latest request that an administrator decides on was made: that of the review, or else the creation. */
    requestedAtMs: number
  } & NameColumns
  /** Of applications and resource servers. */
  secrets: {
    id: string
    ownerId: string
    keyId: string
    hash: string
    prefix: string
    createdAtMs: number
    expiresAtMs: number | null
  }
  removedHashKeys: { keyId: string; removedAtMs: number }
  /** Forms that were sent: a digest of whose form it was, and the ID of what it created. */
  submissions: { key: string; createdId: string; expiresAtMs: number }
  lastUses: { id: string; atMs: number }
  /** `products` and `scopes` are JSON arrays. */
  tokens: {
    hash: string
    applicationId: string
    secretId: string
    generation: number
    products: string
    scopes: string
    audiences: string
    keyThumbprint: string | null
    issuedAtMs: number
    expiresAtMs: number
  }
  products: { name: string; description: string | null }
  scopes: { name: string; audience: string | null; description: string | null }
  failures: { key: string; count: number; resetsAtMs: number }
  /** `keys` and `audiences` are JSON arrays. */
  resourceServers: {
    id: string
    audiences: string | null
    clientId: string
    name: string
    createdAtMs: number
    keys: string
    revision: number
  }
  /** `audiences` and `rules` are JSON arrays. */
  trustedIssuers: {
    id: string
    issuer: string
    jwksUrl: string | null
    /** A JSON object. */
    jwks: string | null
    audiences: string
    detectReplay: number
    rules: string
    configured: number
    createdAtMs: number
  }
  signingKeys: {
    kid: string
    algorithm: string
    publicKey: string
    encryptedKey: string
    state: 'next' | 'current' | 'last'
    createdAtMs: number
    expiresAtMs: number | null
  }
  usedAssertions: { hash: string; expiresAtMs: number }
  usage: { clientId: string; hourMs: number; outcome: string; requests: number }
  tokenRequests: {
    clientId: string
    outcome: string
    address: string
    minuteMs: number
    atMs: number
    count: number
  }
  /** `changes` is a JSON object. Only counted events have a `countedKey`; the rest can neither be changed nor deleted before its time. */
  audit: {
    id: Generated<number>
    atMs: number
    event: string
    actorType: 'person' | 'api' | 'command' | 'service' | null
    actor: string | null
    actorId: string | null
    clientId: string | null
    address: string | null
    detail: string | null
    changes: string | null
    count: number
    /** What is counted, in which hour. */
    countedKey: string | null
  }
  /** The retention of the entries up to this ID has ended. */
  auditRetention: { id: number; endedId: number }
  purgeTime: { id: number; atMs: number; keyId: string; signature: string }
  developers: {
    id: string
    name: string
    passwordHash: string
    administrator: number
    createdAtMs: number
  } & NameColumns
  invitations: {
    hash: string
    name: string | null
    administrator: number
    expiresAtMs: number
    createdBy: string | null
  }
  passwordLinks: { hash: string; developerId: string; expiresAtMs: number; createdBy: string | null }
  memberships: { developerId: string; projectId: string }
  identities: { issuer: string; subject: string; developerId: string }
  sessions: {
    hash: string
    developerId: string
    expiresAtMs: number
    address: string | null
    browser: string | null
    idToken: string | null
    issuer: string | null
    subject: string | null
    sid: string | null
  }
  probes: { id: number; atMs: number }
}
