import type { CatalogueStorage, ScopeStorage } from '../storage.ts'
import type { Database } from './database.ts'

export function createSqlCatalogue({ query }: Database, table: 'products' | 'scopes'): CatalogueStorage {
  return {
    async list() {
      const rows = await query.selectFrom(table).select('name').orderBy('name').execute()
      return rows.map(({ name }) => name)
    },
    async add(names) {
      if (names.length === 0) return
      await query
        .insertInto(table)
        .values(names.map((name) => ({ name })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    async remove(name) {
      await query.deleteFrom(table).where('name', '=', name).execute()
    },
  }
}

export function createSqlScopes(database: Database): ScopeStorage {
  const { query } = database
  return {
    ...createSqlCatalogue(database, 'scopes'),
    async listScopes() {
      const rows = await query.selectFrom('scopes').selectAll().orderBy('name').execute()
      return rows.map(({ name, audience, description }) => ({
        name,
        ...(audience !== null && { audience }),
        ...(description !== null && { description }),
      }))
    },
    async set({ name, audience = null, description = null }) {
      await query
        .insertInto('scopes')
        .values({ name, audience, description })
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ audience, description }))
        .execute()
    },
  }
}
