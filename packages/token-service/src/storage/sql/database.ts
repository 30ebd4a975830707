import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'

/** Drizzle over either driver. */
export type Database = PgDatabase<PgQueryResultHKT>
