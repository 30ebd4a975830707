/** The part of a `Pool` of the `pg` package, or of a client with the same interface, that the store uses. */
export interface PostgresqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

export type RunStatement = <Row>(sql: string, ...values: unknown[]) => Promise<readonly Row[]>

/** Runs statements, and creates the table when one finds that it is missing. */
export function createStatementRunner(client: PostgresqlClient, createTableSql: string): RunStatement {
  return async <Row>(sql: string, ...values: unknown[]) => {
    const run = async () => (await client.query(sql, values)).rows as Row[]
    try {
      return await run()
    } catch (error) {
      if ((error as { code?: unknown }).code !== undefinedTable) throw error
      await client.query(createTableSql)
      return run()
    }
  }
}

const undefinedTable = '42P01'
