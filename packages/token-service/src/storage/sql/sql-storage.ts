import { report } from '../storage-failure.ts'
import type { Storage, Transaction } from '../storage.ts'
import { createBatcher } from './batcher.ts'
import type { Database } from './database.ts'
import { createSqlActivity } from './sql-activity.ts'
import { createSqlApplications } from './sql-applications.ts'
import { createSqlAssertions } from './sql-assertions.ts'
import { createSqlAudit } from './sql-audit.ts'
import { createSqlDevelopers, createSqlSessions } from './sql-developers.ts'
import { createSqlFailures } from './sql-failures.ts'
import { createSqlListings } from './sql-listings.ts'
import { createSqlCatalogue, createSqlScopes } from './sql-catalogue.ts'
import { createSqlPurgeTime } from './sql-purge-time.ts'
import { createSqlProjects } from './sql-projects.ts'
import { createSqlSecrets } from './sql-secrets.ts'
import { createSqlSigningKeys } from './sql-signing-keys.ts'
import { createSqlResourceServers } from './sql-resource-servers.ts'
import { createSqlTrustedIssuers } from './sql-trusted-issuers.ts'
import { createSqlTokens } from './sql-tokens.ts'

/** What differs between the kinds of databases. */
export interface DatabaseControl extends Pick<Storage, 'close' | 'opened'> {
  /** Returns the space of deleted rows to the file system. */
  readonly compact?: () => Promise<void>
  /** Rejects if there is too little space for what requests write. */
  readonly checkSpace?: () => Promise<void>
}

/** Stores everything in an SQL database that is migrated. */
export function createSqlStorage(
  database: Database,
  { compact, checkSpace, ...control }: DatabaseControl,
): Storage {
  const { query } = database
  const tokens = createSqlTokens(database)
  const probe = createBatcher<undefined, undefined>(async () => {
    await query
      .insertInto('probes')
      .values({ id: 1, atMs: Date.now() })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ atMs: Date.now() }))
      .execute()
    await checkSpace?.().catch(report)
    return []
  })
  return {
    database,
    ...changeableParts(database),
    tokens: {
      ...tokens,
      async purge(nowMs) {
        const purged = await tokens.purge(nowMs)
        if (purged > 0) await compact?.().catch(report)
        return purged
      },
    },
    failures: createSqlFailures(database),
    assertions: createSqlAssertions(database),
    activity: createSqlActivity(database),
    listings: createSqlListings(database),
    probe: () => probe(undefined),
    ...control,
  }
}

export function changeableParts(database: Database): Transaction {
  return {
    projects: createSqlProjects(database),
    products: createSqlCatalogue(database, 'products'),
    scopes: createSqlScopes(database),
    applications: createSqlApplications(database),
    secrets: createSqlSecrets(database),
    resourceServers: createSqlResourceServers(database),
    trustedIssuers: createSqlTrustedIssuers(database),
    developers: createSqlDevelopers(database),
    sessions: createSqlSessions(database),

    signingKeys: createSqlSigningKeys(database),
    audit: createSqlAudit(database),
    purgeTime: createSqlPurgeTime(database),
  }
}
