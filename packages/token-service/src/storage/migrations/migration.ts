import type { AuditEvent } from '../audit-storage.ts'
import type { Query } from '../database.ts'

/**
 * A step from one schema of the database to the next. Its file is never edited once a version with it is published, which
 * `pnpm check:static` checks: databases have it behind them.
 */
export interface Migration {
  /** That of its file: a number of four digits, and what changes. */
  readonly name: string
  /** @param types what differs between the kinds of databases */
  readonly statements: (types: ColumnTypes) => readonly string[]
  /**
   * What SQL alone cannot do, after the statements and in their transaction. It uses nothing but the query, because
   * everything else in the program belongs to the newest schema.
   *
   * @returns entries for the audit log
   */
  readonly change?: (query: Query) => Promise<readonly AuditEvent[]>
}

export interface ColumnTypes {
  /** Triggers have no common form. */
  readonly kind: 'sqlite' | 'postgres'
  /** A primary key that grows with each row. */
  readonly identity: string
  /** A text that is compared by its bytes, whatever the language of the database. */
  readonly bytewise: string
}
