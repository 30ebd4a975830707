import type { Database } from '../../storage/database.ts'

/** An entry of a catalogue: an API product, or a scope. */
export interface CatalogueEntry {
  readonly name: string
  /** For those who choose it. */
  readonly description?: string | undefined
  /** The API that a scope belongs to (`aud`); without one, it is of every API. Products have none. */
  readonly audience?: string | undefined
}

export type CatalogueKind = 'products' | 'scopes'

/** The API products, or the scopes, that applications can request. */
export function catalogueStorage({ query }: Database, kind: CatalogueKind) {
  return {
    /** In alphabetical order. */
    async list(): Promise<CatalogueEntry[]> {
      const rows = await query.selectFrom(kind).selectAll().orderBy('name').execute()
      return rows.map(({ name, description, ...row }) => ({
        name,
        ...('audience' in row && row.audience !== null && { audience: row.audience }),
        ...(description !== null && { description }),
      }))
    },
    /** Does nothing for a name that exists. */
    async add(names: readonly string[]): Promise<void> {
      if (names.length === 0) return
      await query
        .insertInto(kind)
        .values(names.map((name) => ({ name })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    /** Adds it, or replaces it. */
    async set(entry: CatalogueEntry): Promise<void> {
      const [audience, description] = [entry.audience ?? null, entry.description ?? null]
      const details = { description, ...(kind === 'scopes' && { audience }) }
      await query
        .insertInto(kind)
        .values({ name: entry.name, ...details })
        .onConflict((conflict) => conflict.column('name').doUpdateSet(details))
        .execute()
    },
    /** Applications that have it keep it. */
    async remove(name: string): Promise<void> {
      await query.deleteFrom(kind).where('name', '=', name).execute()
    },
  }
}
