import type { Database } from '../../storage/database.ts'

/** A scope of the catalogue. */
export interface Scope {
  readonly name: string
  /** The API that it belongs to (`aud`); without one, it is of every API. */
  readonly audience?: string | undefined
  readonly description?: string | undefined
}

/** The API products, or the scopes, that applications can request. */
export function catalogueStorage({ query }: Database, table: 'products' | 'scopes') {
  return {
    /** In alphabetical order. */
    async list(): Promise<string[]> {
      const rows = await query.selectFrom(table).select('name').orderBy('name').execute()
      return rows.map(({ name }) => name)
    },
    /** Does nothing for a name that exists. */
    async add(names: readonly string[]): Promise<void> {
      if (names.length === 0) return
      await query
        .insertInto(table)
        .values(names.map((name) => ({ name })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    /** Applications that have it keep it. */
    async remove(name: string): Promise<void> {
      await query.deleteFrom(table).where('name', '=', name).execute()
    },
  }
}

export function scopeStorage(database: Database) {
  const { query } = database
  return {
    ...catalogueStorage(database, 'scopes'),
    /** In alphabetical order. */
    async listScopes(): Promise<Scope[]> {
      const rows = await query.selectFrom('scopes').selectAll().orderBy('name').execute()
      return rows.map(({ name, audience, description }) => ({
        name,
        ...(audience !== null && { audience }),
        ...(description !== null && { description }),
      }))
    },
    /** Adds it, or replaces it. */
    async set(scope: Scope): Promise<void> {
      const { name } = scope
      const [audience, description] = [scope.audience ?? null, scope.description ?? null]
      await query
        .insertInto('scopes')
        .values({ name, audience, description })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ audience, description }))
        .execute()
    },
  }
}
