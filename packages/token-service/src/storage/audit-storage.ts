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

/** Signs a text with a key that is not in the database. */
export type Sign = (text: string) => { readonly keyId: string; readonly hash: string }

/** An entry of the chain: each has a code (HMAC) of itself and of the code before. */
export interface ChainedEntry extends StoredAuditEntry {
  readonly sequence: number
  readonly keyId: string
  readonly mac: string
}

/** The last entry of the chain, or the last one that retention has deleted. */
export interface Checkpoint {
  readonly sequence: number
  readonly mac: string
  readonly keyId: string
  readonly signature: string
}

export interface AuditStorage {
  /** Appends to the chain; only in the transaction of the act itself. */
  append(entries: readonly AuditEntry[], sign: Sign): Promise<void>
  /** The newest first; `before`: only entries with a smaller ID. */
  list(limit: number, filter?: AuditFilter, before?: number): Promise<StoredAuditEntry[]>
  /** Deletes the entries before that time, and signs where the chain starts then; returns how many. */
  purge(beforeMs: number, sign: Sign): Promise<number>
  /** Entries of the chain with a larger number, in their order. */
  chain(afterSequence: number, limit: number): Promise<ChainedEntry[]>
  checkpoints(): Promise<{ readonly start?: Checkpoint | undefined; readonly head?: Checkpoint | undefined }>
  /** The events of the entries outside the chain. */
  countedEvents(): Promise<string[]>
}

/** What is signed for an entry of the chain. */
export function entryText(entry: AuditEntry, sequence: number, previousMac: string): string {
  const { atMs, event, actorType, actor, actorId, clientId, address, detail, changes, count } = entry
  const values = [atMs, event, actorType, actor, actorId, clientId, address, detail, changes, count]
  return JSON.stringify(['audit entry', previousMac, sequence, ...values])
}

/** What is signed for one end of the chain. */
export function checkpointText(
  end: 'start' | 'head',
  { sequence, mac }: Pick<Checkpoint, 'sequence' | 'mac'>,
): string {
  return JSON.stringify(['audit checkpoint', end, sequence, mac])
}
