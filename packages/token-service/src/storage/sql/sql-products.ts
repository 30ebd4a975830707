import type { ProductStorage } from '../storage.ts'
import type { Database } from './database.ts'

export function createSqlProducts({ query }: Database): ProductStorage {
  return {
    async list() {
      const rows = await query.selectFrom('products').select('name').orderBy('name').execute()
      return rows.map(({ name }) => name)
    },
    async add(products) {
      if (products.length === 0) return
      await query
        .insertInto('products')
        .values(products.map((name) => ({ name })))
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    },
    async remove(product) {
      await query.deleteFrom('products').where('name', '=', product).execute()
    },
  }
}
