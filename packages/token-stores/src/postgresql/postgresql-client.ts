import { setTimeout } from 'node:timers/promises'

/** The part of a `Pool` of the `pg` package, or of a client with the same interface, that the store uses. */
export interface PostgresqlClient {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>
}

export type RunStatement = <Row>(sql: string, ...values: unknown[]) => Promise<readonly Row[]>

/** A table that cannot be created is not tried again for this time: each failure costs the pool a connection. */
const restMs = 30_000

const undefinedTable = '42P01'

/** A serialization failure, as in databases with a stricter isolation, or a deadlock: nothing was changed. */
const conflicts = ['40001', '40P01']
const maxAttempts = 10
const longestPauseMs = 5

/** Runs statements, and creates the table when one finds that it is missing. */
export function createStatementRunner(client: PostgresqlClient, createTableSql: string): RunStatement {
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
    const run = async () => (await query(sql, values)).rows as Row[]
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
