import { sql } from 'kysely'
import type { AuditEvent } from '../audit-storage.ts'
import type { Migration } from './migration.ts'

/** What administrators end stays ended, and the names of projects are unique. */
export const administrators: Migration = {
  name: '0002-administrators',
  statements: () => [
    ...['applications', 'projects'].flatMap((table) => [
      `alter table ${table} add column deleted_by text check (deleted_by in ('owner', 'administrator'))`,
      // By whom is not known: administrators can restore everything.
      `update ${table} set deleted_by = 'administrator' where deletes_at_ms is not null`,
    ]),
    ...['invitations', 'password_links'].map((table) => `alter table ${table} add column created_by text`),
    `alter table projects add column name_key text`,
    `create unique index projects_name_key on projects (name_key)`,
  ],
  async change(query) {
    const { rows } = await sql<{ id: string; name: string }>`
      select id, name from projects order by created_at_ms, id`.execute(query)
    const events: AuditEvent[] = []
    const taken = new Set<string>()
    for (const { id, name } of rows) {
      let unique = name
      for (let number = 2; taken.has(keyOf(unique)); number += 1) unique = `${name.trim()} (${number})`
      taken.add(keyOf(unique))
      await sql`update projects set name = ${unique}, name_key = ${keyOf(unique)} where id = ${id}`.execute(
        query,
      )
      if (unique !== name)
        events.push({ event: 'project_changed', detail: id, changes: { name: { from: name, to: unique } } })
    }
    return events
  },
}

const keyOf = (name: string) => name.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim()
