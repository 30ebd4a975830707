import type { Keyring } from '../runtime/keyring.ts'

/** Signs entries and the ends of the chain with keys that are not in the database. */
export type AuditKeyring = Pick<Keyring, 'keyIds' | 'hash' | 'matching'> & {
  /** With the keys that were removed after they had signed this entry; they check it, and sign nothing. */
  readonly forEntry?: (sequence: number) => AuditKeyring
}

/** Who does something, and from where. */
export interface Actor {
  /** A developer of the portal, the administrators' HTTP API, the command, or the service itself. */
  readonly actorType: 'person' | 'api' | 'command' | 'service'
  /** The name: of a developer, or of the user that the command reports. */
  readonly actor?: string | undefined
  /** The ID of the developer. */
  readonly actorId?: string | undefined
  readonly address?: string | undefined
}

/** Old and new values by name; the old one is missing if something was created. */
export type Changes = Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>

export interface AuditEvent extends Partial<Actor> {
  readonly event: string
  readonly clientId?: string | undefined
  readonly detail?: string | undefined
  readonly changes?: Changes | undefined
}

export interface AuditEntry extends AuditEvent {
  readonly atMs: number
  /** How many identical events the entry stands for. */
  readonly count: number
}

export interface StoredAuditEntry extends AuditEntry {
  /** Grows with each entry. */
  readonly id: number
  /** Its number in the chain; undefined for events that are only counted. */
  readonly sequence?: number | undefined
}

/** Only the entries that match every member. */
export interface AuditFilter {
  readonly event?: string | undefined
  /** Any of these events. */
  readonly events?: readonly string[] | undefined
  readonly actor?: string | undefined
  readonly clientId?: string | undefined
  readonly address?: string | undefined
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
}

/** An entry of the chain: each has a code (HMAC) of itself and of the code before. */
export interface ChainedEntry extends StoredAuditEntry {
  readonly sequence: number
  readonly keyId: string
  readonly mac: string
}

/** The last entry of the chain, or the last one that was deleted after its retention. */
export interface Checkpoint {
  readonly sequence: number
  readonly mac: string
  readonly keyId: string
  readonly signature: string
}

/** Where the chain starts since entries were deleted. */
export interface StartCheckpoint extends Checkpoint {
  /** A digest of the codes of all deleted entries. */
  readonly history: string
}

/** The code of an entry that was deleted; checkpoints that were kept elsewhere are compared with it. */
export type PurgedCode = Pick<ChainedEntry, 'sequence' | 'mac'>

export interface AuditRetention {
  /** Entries before that time are deleted. */
  readonly beforeMs: number
  /** No entry is later, unless a clock was wrong. */
  readonly nowMs: number
}

export interface AuditStorage {
  /**
   * Appends to the chain; only in the transaction of the act itself. If the end of the chain is not the one that the service
   * signed, an entry says so first, and the verification of the log fails from then on.
   *
   * @param isFirst for a new database
   * @returns what was found to be wrong
   */
  append(
    entries: readonly AuditEntry[],
    keyring: AuditKeyring,
    isFirst?: boolean,
  ): Promise<string | undefined>
  /** Signs both ends with the newest key, so that an older key of the keyring can be removed. */
  renewSignatures(keyring: AuditKeyring): Promise<void>
  /** The newest first; `before`: only entries with a smaller ID. */
  list(limit: number, filter?: AuditFilter, before?: number): Promise<StoredAuditEntry[]>
  /**
   * Deletes the entries before that time, as far as each follows from the one before, and signs where the chain starts then; an
   * entry says what was deleted. Returns how many there were.
   */
  purge(retention: AuditRetention, keyring: AuditKeyring): Promise<number>
  /** Entries of the chain with a larger number, in their order. */
  chain(afterSequence: number, limit: number): Promise<ChainedEntry[]>
  /** The codes of deleted entries with a larger number, in their order. */
  purgedCodes(afterSequence: number, limit: number): Promise<PurgedCode[]>
  checkpoints(): Promise<{
    readonly start?: StartCheckpoint | undefined
    readonly head?: Checkpoint | undefined
  }>
  /** The events of the entries outside the chain. */
  countedEvents(): Promise<string[]>
}
