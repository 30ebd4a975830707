import { setTimeout } from 'node:timers/promises'
import type { TokenStore } from '@tokenwell/core'
import { configurationError, notifyListener } from '@tokenwell/core/protocol'
import { tokenSharing, type TokenLease } from '@tokenwell/core/adapter'
import {
  createEntryFormat,
  type EntryContents,
  type EntryKind,
  type FoundEntries,
} from '../format/entry-format.ts'
import { entryStatements } from './entry-statements.ts'

/** An entry that was ignored, because it was changed or written by another program. */
export interface EntryUnreadableEvent {
  readonly type: 'entry_unreadable'
  /** The row's columns. */
  readonly name: string
  readonly kind: EntryKind
}

/** Options of the PostgreSQL token store. */
export interface PostgresqlTokenStoreOptions {
  /** A `Pool` of the `pg` package, or a client with the same `query`. You close it; the store does not. */
  readonly client: PostgresqlClient
  /** Name of the table, with its schema if it is not in the search path. @default 'tokenwell_entries' */
  readonly table?: string | undefined
  /**
   * Keys of 32 bytes, as a `Uint8Array` or in base64. Entries are encrypted with the first one and decrypted with any of them.
   * Without keys, tokens are stored as plain text. @default none
   */
  readonly encryptionKeys?: readonly (string | Uint8Array)[] | undefined
  /** Called for each entry that cannot be read. */
  readonly onEvent?: ((event: EntryUnreadableEvent) => void) | undefined
}

/**
 * Creates a token store in PostgreSQL: all processes that use it share one token and one token request.
 *
 * @example
 * const store = createPostgresqlTokenStore({ client: new Pool({ connectionString }), encryptionKeys: [key] })
 * const tokens = clientCredentials({ ...credentialsFrom(process.env), store })
 *
 * @throws {TokenError} of kind `configuration`, naming the invalid option
 */
export function createPostgresqlTokenStore(options: PostgresqlTokenStoreOptions): TokenStore {
  const { client, table = 'tokenwell_entries', encryptionKeys, onEvent } = options
  if (['createQueryRunner', '$queryRawUnsafe'].some((name) => name in Object(client))) {
    throw configurationError(
      'client must be a Pool of the pg package, not that of TypeORM or Prisma, which return results in another form. ' +
        'Create a small one beside it: new Pool({ connectionString, max: 2 }).',
    )
  }
  if (typeof (client as Partial<PostgresqlClient> | undefined)?.query !== 'function') {
    throw configurationError('client must be a Pool of the pg package: new Pool({ connectionString }).')
  }
  if (!/^[\w$]+(\.[\w$]+)?$/.test(table)) {
    throw configurationError(
      `table must be a name of letters, digits, _ and $, optionally with a schema, such as 'auth.tokens'.`,
    )
  }
  const sql = entryStatements(`"${table.replace('.', '"."')}"`)
  const run = createStatementRunner(client, sql.createTable)
  const format = createEntryFormat({
    store: 'postgresql store',
    encryptionKeys,
    onUnreadable: (name, kind) => void notifyListener(onEvent, { type: 'entry_unreadable', name, kind }),
  })

  return {
    sharing: tokenSharing,
    async read(cacheKey) {
      const rows = await run<FoundRow>(sql.read, format.names(cacheKey))
      const found = rows.map(({ now, token, cooldown }) => ({ now: Number(now), token, cooldown }))
      return format.read(cacheKey, found)
    },
    async remove(cacheKey, id) {
      await run(sql.remove, format.names(cacheKey), id)
    },
    async lease(cacheKey, ttlMs, slot): Promise<TokenLease | undefined> {
      const [name] = format.names(cacheKey)
      const holder = [name, slot ?? 'lease', crypto.randomUUID()]
      const [leased] = await run<FoundRow>(sql.lease, ...holder, Math.ceil(ttlMs))
      if (leased === undefined) return undefined
      // By the clock of the database, because the clocks of other machines may differ.
      const leasedAt = Number(leased.now)
      const repliedAt = performance.now()

      const write = async <Kind extends EntryKind>(kind: Kind, content: EntryContents[Kind], ms: number) => {
        const id = crypto.randomUUID()
        const expiresAt = leasedAt + Math.floor(ms)
        const entry = format.encode(cacheKey, kind, { id, expiresAt, content })
        const written = await run(sql.write, ...holder, leasedAt, kind, id, entry, expiresAt)
        return written.length > 0 ? id : undefined
      }

      return {
        write: (response, lifetimeMs) => write('token', response, lifetimeMs),
        async writeCooldown(error, ms) {
          await write('cooldown', error, performance.now() - repliedAt + ms)
        },
        extend: async (ms) => (await run(sql.extend, ...holder, Math.ceil(ms))).length > 0,
        async release() {
          await run(sql.release, ...holder)
        },
      }
    },
  }
}

/** PostgreSQL's bigint is text in JavaScript. */
interface FoundRow extends Omit<FoundEntries, 'now'> {
  readonly now: string
}

/** The part of a `Pool` of the `pg` package, or of a client with the same interface, that the store uses. */
export interface PostgresqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

type RunStatement = <Row>(sql: string, ...values: unknown[]) => Promise<readonly Row[]>

/** A table that cannot be created is not tried again for this time: each failure costs the pool a connection. */
const restMs = 30_000

const undefinedTable = '42P01'

/** A serialization failure, as in databases with a stricter isolation, or a deadlock: nothing was changed. */
const conflicts = ['40001', '40P01']
const maxAttempts = 10
const longestPauseMs = 5

/** Runs statements, and creates the table when one finds that it is missing. */
function createStatementRunner(client: PostgresqlClient, createTableSql: string): RunStatement {
  const query: PostgresqlClient['query'] = async (text, values) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.query(text, values)
      } catch (error) {
        if (attempt === maxAttempts || !conflicts.includes(codeOf(error))) throw error
        // Random, so that those in conflict do not meet again.
        await setTimeout(Math.random() * longestPauseMs * attempt)
      }
    }
  }

  let creation: Promise<unknown> | undefined
  let failed: { readonly error: unknown; readonly at: number } | undefined

  /** Once for all statements that run at the same time. */
  function createTable(): Promise<unknown> {
    creation ??= query(createTableSql)
      .catch((error: unknown) => {
        failed = { error, at: performance.now() }
        throw error
      })
      .finally(() => {
        creation = undefined
      })
    return creation
  }

  return async <Row>(sql: string, ...values: unknown[]) => {
    const run = async () => {
      const { rows } = (await query(sql, values)) as { readonly rows?: unknown }
      if (Array.isArray(rows)) return rows as Row[]
      throw Object.assign(new Error('The client returned no rows.'), { code: 'bad_reply' })
    }
    if (failed && performance.now() - failed.at < restMs) throw failed.error
    try {
      return await run()
    } catch (error) {
      if (codeOf(error) !== undefinedTable) throw error
      await createTable()
      return run()
    }
  }
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | undefined)?.code)
}
