/** Milliseconds since 1970, at the start of the statement, by the clock of the database. */
const now = `(extract(epoch from statement_timestamp()) * 1000)::bigint`

/** Statements on the table of entries: tokens, cooldowns and leases, each in a row. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- its texts
export function entryStatements(table: string) {
  const isCurrent = `name = $1 and kind = $2 and id = $3 and expires_at > ${now}`
  return {
    // Not in the write-ahead log: neither in its archives, nor on replicas. After a crash the table is empty.
    // The second constraint is an index for expired rows. With the ID in it, it never fails: "on conflict" would not catch it.
    // Several statements in one query are one transaction, which PostgreSQL ends by itself, also after a failure.
    createTable: `
      select pg_advisory_xact_lock(hashtext('tokenwell'));
      create unlogged table if not exists ${table} (
        name text, kind text, id text not null, entry text not null, expires_at bigint not null,
        primary key (name, kind), unique (expires_at, name, kind, id)
      );`,
    /** $1 names. */
    read: `
      select names.name, ${now} as now,
        max(entry) filter (where kind = 'token') as token,
        max(entry) filter (where kind = 'cooldown') as cooldown
      from unnest($1::text[]) with ordinality as names (name, position)
      left join ${table} as entries on entries.name = names.name and expires_at > ${now}
      group by names.name, position order by position`,
    /** $1 names, $2 ID. */
    remove: `delete from ${table} where name = any($1) and kind = 'token' and id = $2`,
    /**
     * $1 name, $2 slot, $3 holder, $4 TTL. Returns the time, unless another holder has the lease. One that lasts far
     * longer than any is from before the clock was set back. (Not just longer: a statement that waited for another one
     * has the earlier time.)
     */
    lease: `
      insert into ${table} as held values ($1, $2, $3, '', ${now} + $4)
      on conflict (name, kind) do update set id = excluded.id, expires_at = excluded.expires_at
      where held.expires_at <= ${now} or held.expires_at > ${now} + $4 + 60000
      returning ${now} as now`,
    /**
     * $1 name, $2 slot, $3 holder, $4 time of the lease, $5 kind, $6 ID, $7 entry, $8 its expiry. Writes nothing if
     * the clock was set back since: the lifetime would be too long.
     */
    write: `
      with holder as (select from ${table} where ${isCurrent} and $4 <= ${now} and $8 > ${now} for update),
      written as (
        insert into ${table} select $1, $5, $6, $7, $8 from holder
        on conflict (name, kind) do update
        set id = excluded.id, entry = excluded.entry, expires_at = excluded.expires_at
        returning kind
      ),
      superseded as (
        delete from ${table} where name = $1 and kind = 'cooldown' and exists (select from written where kind = 'token')
      )
      select from written`,
    /** $1 name, $2 slot, $3 holder, $4 TTL. */
    extend: `update ${table} set expires_at = ${now} + $4 where ${isCurrent} returning id`,
    /** $1 name, $2 slot, $3 holder. Also removes some expired rows. */
    release: `
      with expired as (
        select name, kind from ${table} where expires_at < ${now} limit 100 for update skip locked
      )
      delete from ${table} as entries where name = $1 and kind = $2 and id = $3
      or exists (select from expired where (expired.name, expired.kind) = (entries.name, entries.kind))`,
  }
}
