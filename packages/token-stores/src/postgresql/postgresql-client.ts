/** The part of a `Pool` of the `pg` package, or of a client with the same interface, that the store uses. */
export interface PostgresqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

export type RunStatement = <Row>(sql: string, ...values: unknown[]) => Promise<readonly Row[]>

/** A table that cannot be created is not tried again for this time: each failure costs the pool a connection. */
const restMs = 30_000

const undefinedTable = '42P01'

/** Runs statements, and creates the table when one finds that it is missing. */
export function createStatementRunner(client: PostgresqlClient, createTableSql: string): RunStatement {
  let creation: Promise<unknown> | undefined
  let failed: { readonly error: unknown; readonly at: number } | undefined

  /** Once for all statements that run at the same time. */
  function createTable(): Promise<unknown> {
    creation ??= client
      .query(createTableSql)
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
    const run = async () => (await client.query(sql, values)).rows as Row[]
    if (failed && performance.now() - failed.at < restMs) throw failed.error
    try {
      return await run()
    } catch (error) {
      if ((error as { code?: unknown }).code !== undefinedTable) throw error
      await createTable()
      return run()
    }
  }
}
