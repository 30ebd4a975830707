import type { AuditEntry } from './audit-storage.ts'
import type { RehashedSecret } from './hash-keys.ts'

/** The result of a token request: `issued`, or why it was rejected. */
export type TokenRequestOutcome = string

/** How many token requests of an application had one outcome within one hour. */
export interface UsageEntry {
  /** In the database, an empty one stands for all clients together. */
  readonly clientId: string
  readonly hourMs: number
  readonly outcome: TokenRequestOutcome
  readonly requests: number
}

/** Token requests of an application from one address with one outcome within one minute. */
export interface TokenRequestEntry {
  readonly clientId: string
  readonly outcome: TokenRequestOutcome
  readonly address: string
  readonly minuteMs: number
  /** The latest of them. */
  readonly atMs: number
  readonly count: number
}

/** When an application, a resource server, a secret or a public key was last used. */
export interface LastUse {
  /** The ID of the application, secret or key, or the client ID of the resource server. */
  readonly id: string
  readonly atMs: number
}

export interface ActivityBatch {
  readonly lastUses: readonly LastUse[]
  readonly usage: readonly UsageEntry[]
  readonly requests: readonly TokenRequestEntry[]
  readonly rehashed: readonly RehashedSecret[]
  /** Events that are only counted, outside the chain of the audit log. */
  readonly events: readonly AuditEntry[]
}

export interface ActivityStorage {
  record(batch: ActivityBatch): Promise<void>
  /** When these were last used, by ID; IDs that were never used are missing. */
  lastUses(ids: readonly string[]): Promise<ReadonlyMap<string, number>>
  /** For what no longer exists, deletes the last uses recorded before that time; returns how many. */
  purgeLastUses(beforeMs: number): Promise<number>
  /** Token requests by hour and outcome, the oldest hour first. */
  usage(clientId: string, sinceMs: number): Promise<UsageEntry[]>
  /** Deletes the usage of the hours that began before that time; returns how many entries. */
  purgeUsage(beforeMs: number): Promise<number>
  /** The latest token requests, the newest first. */
  requests(clientId: string, limit: number): Promise<TokenRequestEntry[]>
  /** Deletes counted events before that time, and the oldest ones if there are too many; returns how many. */
  purgeEvents(beforeMs: number): Promise<number>
  /** Deletes the token requests before that time; returns how many entries. */
  purgeRequests(beforeMs: number): Promise<number>
}
