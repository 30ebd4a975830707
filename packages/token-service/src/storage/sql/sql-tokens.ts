import { eq, sql } from 'drizzle-orm'
import type { Application } from '../../applications/application.ts'
import type { StoredToken, TokenStorage } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import type { Database } from './database.ts'
import { applications, tokens } from './schema.ts'

const purgeSize = 5_000

export function createSqlTokens(database: Database): TokenStorage {
  const insertAll = database
    .insert(tokens)
    .select(
      sql`select * from unnest(
        ${sql.placeholder('hashes')}::text[], ${sql.placeholder('applicationIds')}::uuid[],
        ${sql.placeholder('issuedAts')}::bigint[], ${sql.placeholder('expiresAts')}::bigint[])`,
    )
    .prepare('save_tokens')

  const selectAll = database
    .select({ token: tokens, application: applications })
    .from(tokens)
    .innerJoin(applications, eq(applications.id, tokens.applicationId))
    .where(sql`${tokens.hash} = any(${sql.placeholder('hashes')}::text[])`)
    .prepare('find_tokens')

  const save = createBatcher<StoredToken, undefined>(async (batch) => {
    await insertAll.execute({
      hashes: batch.map(({ hash }) => hash),
      applicationIds: batch.map(({ applicationId }) => applicationId),
      issuedAts: batch.map(({ issuedAtMs }) => issuedAtMs),
      expiresAts: batch.map(({ expiresAtMs }) => expiresAtMs),
    })
    return []
  })

  const find = createBatcher<string, { token: StoredToken; application: Application } | undefined>(
    async (hashes) => {
      const rows = await selectAll.execute({ hashes })
      const found = new Map(rows.map((row) => [row.token.hash, row]))
      return hashes.map((hash) => found.get(hash))
    },
    { concurrency: 2 },
  )

  return {
    save,
    find,
    async remove(hash) {
      await database.delete(tokens).where(eq(tokens.hash, hash))
    },
    async purge(nowMs) {
      // In portions, each a short transaction, and out of the way of other instances that purge as well.
      for (let purged = 0; ;) {
        const expired = sql`select hash from ${tokens} where expires_at <= ${nowMs} limit ${purgeSize} for update skip locked`
        const deleted = await database
          .delete(tokens)
          .where(sql`${tokens.hash} in (${expired})`)
          .returning({ issuedAtMs: tokens.issuedAtMs })
        purged += deleted.length
        if (deleted.length < purgeSize) return purged
      }
    },
    async clear() {
      await database.delete(tokens)
    },
  }
}
