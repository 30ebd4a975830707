import { sql } from 'kysely'
import { nameColumns } from '../folded-name.ts'
import type { Migration } from './migration.ts'

const named = ['applications', 'projects', 'developers'] as const

/** Names are searched without accents, and sorted as people count. */
export const foldedNames: Migration = {
  name: '0004-folded-names',
  statements: ({ bytewise }) => [
    ...named.flatMap((table) => [
      `alter table ${table} add column folded_name text not null default ''`,
      `alter table ${table} add column sort_name ${bytewise} not null default ''`,
      `create index ${table}_sort on ${table} (sort_name, id)`,
    ]),
    `drop index applications_name`,
    `drop index projects_name`,
    `create index applications_creation on applications (created_at_ms, id)`,
    `create index projects_creation on projects (created_at_ms, id)`,
    `create index developers_creation on developers (created_at_ms, id)`,
    `drop index last_uses_time`,
    `create index last_uses_order on last_uses (at_ms, id)`,
  ],
  async change(query) {
    for (const table of named) {
      const { rows } = await sql<{ id: string; name: string }>`
        select id, name from ${sql.table(table)}`.execute(query)
      for (const { id, name } of rows) {
        const { foldedName, sortName } = nameColumns(name)
        await sql`update ${sql.table(table)} set folded_name = ${foldedName}, sort_name = ${sortName}
          where id = ${id}`.execute(query)
      }
    }
    return []
  },
}
