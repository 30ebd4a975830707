import { CompiledQuery, type DatabaseConnection, PostgresDialect, PostgresDriver } from 'kysely'
import type { Socket } from 'node:net'
import { Client, Pool, types } from 'pg'
import { digest } from '../runtime/digest.ts'
import { StorageFailure } from './storage-failure.ts'

const int8 = 20
const connectTimeoutMs = 5_000
const queryTimeoutMs = 10_000
/** Those of token requests take milliseconds, unless the server is gone. */
const frequentTimeoutMs = 5_000

/**
 * How a transaction begins. A pooler in transaction mode forgets what a session was told: everything goes with the transaction, in the
 * same message.
 */
const begin = [
  'begin',
  // Regardless of the server's default.
  'set local synchronous_commit = on',
  "set local lock_timeout = '3s'",
  // An instance that stands still must not keep its locks.
  "set local idle_in_transaction_session_timeout = '5s'",
].join('; ')

/** Kysely's PostgreSQL dialect; its transactions are durable, and limited in time. */
export class LimitedPostgresDialect extends PostgresDialect {
  readonly #pool: Pool

  constructor(pool: Pool) {
    super({ pool })
    this.#pool = pool
  }

  override createDriver(): PostgresDriver {
    return new LimitedPostgresDriver({ pool: this.#pool })
  }
}

class LimitedPostgresDriver extends PostgresDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(begin))
  }
}

/**
 * Connections to the server at a URL; none is opened yet.
 *
 * @param frequent texts of statements that are worth preparing
 */
export function createPool(
  url: string,
  frequent: ReadonlySet<string>,
  onError: (error: unknown) => void,
): Pool {
  const connected = new Set<Connection>()
  // After a failover, the others lead to the same server.
  const closeAll = () => {
    for (const client of connected) client.disconnect()
    connected.clear()
  }
  const pool = new Pool({
    Client: clientOf(frequent, closeAll),
    connectionString: url,
    max: 10,
    // Connections follow the name of the server even if it does not close them.
    maxLifetimeSeconds: 300,
    connectionTimeoutMillis: connectTimeoutMs,
    query_timeout: queryTimeoutMs,
    application_name: 'tokenwell',
    // Times in milliseconds fit into a number.
    types: {
      getTypeParser: (oid, format) => ((oid as number) === int8 ? Number : types.getTypeParser(oid, format)),
    },
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool waits for it, though its types do not say so
    onConnect: (client) => (client as Client as Connection).findPooler(),
  })
  // An idle connection that breaks is replaced; without a listener the event would end the process. `pg` attaches the
  // client to the error, with all that it knows of the connection.
  pool.on('error', (error) => onError(new StorageFailure(error)))
  pool.on('connect', (client) => {
    connected.add(client as Client as Connection)
    // The same for a connection that breaks between two queries of a transaction; the second query then fails.
    client.on('error', () => {})
  })
  pool.on('remove', (client) => void connected.delete(client as Client as Connection))
  return pool
}

interface Connection extends Client {
  /** Statements are prepared only if there is none: the next transaction may be on another connection. */
  findPooler(): Promise<void>
  disconnect(): void
}

/** @param onLost called when the server rejects what only the primary can do, or does not respond */
function clientOf(frequent: ReadonlySet<string>, onLost: () => void): new () => Connection {
  return class extends Client implements Connection {
    #isDirect = false

    override query(...[text, values, ...rest]: readonly unknown[]) {
      const statement = text as string
      const prepared = this.#isDirect && { name: digest(statement) }
      const query = frequent.has(statement)
        ? { ...prepared, text: statement, query_timeout: frequentTimeoutMs }
        : statement
      const result = super.query(query as string, values as unknown[], ...(rest as []))
      // With a callback, which the pool alone would use, there is none.
      ;(result as Promise<unknown> | undefined)?.catch((error) => isLost(error) && onLost())
      return result
    }

    async findPooler(): Promise<void> {
      const { rows } = await this.query('select pg_backend_pid() as pid')
      // A pooler has identifiers of its own for the connections of its clients.
      const { processID } = this as unknown as { readonly processID?: number | null }
      this.#isDirect = rows[0].pid === processID
    }

    disconnect(): void {
      const { connection } = this as unknown as { readonly connection: { readonly stream: Socket } }
      connection.stream.destroy()
    }
  }
}

const readOnly = '25006'

function isLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === readOnly) || error.message === 'Query read timeout'
}
