import { sql } from 'kysely'
import { randomFillSync } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  applicationColumns,
  selectScopeAudiences,
  toApplication,
  toScopeAudiences,
} from '../storage/registered-client.ts'
import type { Application, Project } from '../storage/application.ts'
import { digest } from '../runtime/digest.ts'
import { createBatcher } from '../storage/batcher.ts'
import { type Database, countDeleted, durably, firstOf, frequentStatement } from '../storage/database.ts'

/** An access token as it is kept: its digest, never the token itself. */
export interface StoredToken {
  readonly hash: string
  readonly applicationId: string
  /** The secret, the public key, the trusted issuer or, in the portal, the developer that it was issued for. */
  readonly secretId: string
  /** The application's token generation when it was issued. */
  readonly generation: number
  readonly products: readonly string[]
  readonly scopes: readonly string[]
  /** The APIs that it is for. */
  readonly audiences: readonly string[]
  /** Of the key that it is bound to (RFC 7638). */
  readonly keyThumbprint?: string | undefined
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** An application as it is now, and what its tokens depend on. */
export interface CurrentClient {
  readonly application: Application
  readonly project: Pick<Project, 'deletesAtMs'>
  /** The APIs that its scopes belong to, by scope. */
  readonly scopeAudiences: ReadonlyMap<string, string>
}

/** A token, and what it was issued under. */
export interface FoundToken extends CurrentClient {
  readonly token: StoredToken
  /** When the secret or the key expires. */
  readonly secretExpiresAtMs?: number | undefined
}

const purgeSize = 200

export type TokenStorage = ReturnType<typeof tokenStorage>

export function tokenStorage(database: Database) {
  const { kind, query } = database

  const insert = frequentStatement(database, (rows) =>
    query
      .insertInto('tokens')
      .columns([
        'hash',
        'applicationId',
        'secretId',
        'generation',
        'products',
        'scopes',
        'issuedAtMs',
        'expiresAtMs',
        'audiences',
        'keyThumbprint',
      ])
      .expression(
        sql`select value->>0, value->>1, value->>2, cast(value->>3 as integer), value->>4, value->>5, cast(value->>6 as bigint), cast(value->>7 as bigint), value->>8, value->>9 from ${rows} where ${durably(database)}`,
      ),
  )
  const save = createBatcher<StoredToken, undefined>(
    async (batch) => {
      await insert(
        batch.map((token) => [
          token.hash,
          token.applicationId,
          token.secretId,
          token.generation,
          JSON.stringify(token.products),
          JSON.stringify(token.scopes),
          token.issuedAtMs,
          token.expiresAtMs,
          JSON.stringify(token.audiences),
          token.keyThumbprint ?? null,
        ]),
      )
      return []
    },
    { ownerOf: ({ applicationId }) => applicationId },
  )

  const selectByHash = frequentStatement(database, (rows) =>
    selectTokens(database).where('tokens.hash', 'in', firstOf(rows)),
  )
  const find = createBatcher<string, FoundToken | undefined>(
    async (hashes) => {
      const rows = await selectByHash(hashes.map((hash) => [hash]))
      const found = new Map(rows.map((row) => [row.hash, toFoundToken(row)]))
      return hashes.map((hash) => found.get(hash))
    },
    { ownerOf: (hash) => hash },
  )

  return {
    /** Settles once the token would survive a crash of the service. */
    save,
    /** Also `undefined` if what the token was issued for was removed. */
    find,
    async remove(hash: string): Promise<void> {
      await query.deleteFrom('tokens').where('hash', '=', hash).where(durably(database)).execute()
    },
    /** Deletes what expired by `nowMs`; returns how many. */
    async purge(nowMs: number): Promise<number> {
      // In portions, so that requests are served in between; instances that purge at the same time skip each other's rows.
      for (let purged = 0; ; await nextTurn()) {
        const expired = query
          .selectFrom('tokens')
          .select('hash')
          .where('expiresAtMs', '<=', nowMs)
          .limit(purgeSize)
        const portion = kind === 'postgres' ? expired.forUpdate().skipLocked() : expired
        const deleted = await countDeleted(query.deleteFrom('tokens').where('hash', 'in', portion))
        purged += deleted
        if (deleted < purgeSize) return purged
      }
    },
    async clear(): Promise<void> {
      await query.deleteFrom('tokens').execute()
    },
  }
}

function selectTokens(database: Database) {
  return database.query
    .selectFrom('tokens')
    .innerJoin('applications', 'applications.id', 'tokens.applicationId')
    .innerJoin('projects', 'projects.id', 'applications.projectId')
    .leftJoin('secrets', (join) =>
      join.onRef('secrets.id', '=', 'tokens.secretId').onRef('secrets.ownerId', '=', 'tokens.applicationId'),
    )
    .leftJoin('trustedIssuers', 'trustedIssuers.id', 'tokens.secretId')
    .leftJoin('developers', 'developers.id', 'tokens.secretId')
    .select(applicationColumns)
    .select([
      'tokens.hash',
      'secretId',
      'generation',
      'tokens.products as tokenProducts',
      'tokens.scopes as tokenScopes',
      'tokens.audiences as tokenAudiences',
      'keyThumbprint',
      'issuedAtMs',
      'tokens.expiresAtMs',
      'secrets.id as existingSecretId',
      'trustedIssuers.id as existingIssuerId',
      'developers.id as existingDeveloperId',
      'secrets.expiresAtMs as secretExpiresAtMs',
      'projects.deletesAtMs as projectDeletesAtMs',
      selectScopeAudiences(database),
    ])
}

type TokenRow = Awaited<ReturnType<ReturnType<typeof selectTokens>['execute']>>[number]

function toFoundToken(row: TokenRow): FoundToken | undefined {
  const {
    hash,
    secretId,
    generation,
    tokenProducts,
    tokenScopes,
    tokenAudiences,
    keyThumbprint,
    issuedAtMs,
    expiresAtMs,
    existingSecretId,
    existingIssuerId,
    existingDeveloperId,
    secretExpiresAtMs,
    projectDeletesAtMs,
    scopeAudiences,
    ...applicationRow
  } = row
  const application = toApplication(applicationRow)
  const key = application.keys.find(({ id }) => id === secretId)
  if ((existingSecretId ?? existingIssuerId ?? existingDeveloperId) === null && !key) return undefined
  return {
    token: {
      hash,
      applicationId: application.id,
      secretId,
      generation,
      products: JSON.parse(tokenProducts) as string[],
      scopes: JSON.parse(tokenScopes) as string[],
      audiences: JSON.parse(tokenAudiences) as string[],
      ...(keyThumbprint !== null && { keyThumbprint }),
      issuedAtMs,
      expiresAtMs,
    },
    application,
    project: projectDeletesAtMs === null ? {} : { deletesAtMs: projectDeletesAtMs },
    scopeAudiences: toScopeAudiences(scopeAudiences),
    secretExpiresAtMs: secretExpiresAtMs ?? key?.expiresAtMs,
  }
}

const tokenBytes = 32

// A call for random bytes costs as much as everything else about a token: one call serves many tokens.
const pool = Buffer.allocUnsafe(tokenBytes * 128)
let used = pool.length

/** An opaque token, the time of issue and 256 random bits, in the characters of a bearer token (RFC 6750, section 2.1). */
export function createAccessToken(issuedAtMs: number): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += tokenBytes
  return issuedAtMs.toString(36).padStart(8, '0') + pool.toString('base64url', used - tokenBytes, used)
}

// Whatever else is presented, none of its characters reaches the database.
const shape = /^[\da-z]{8}[\w-]{43}$/

/**
 * What a token is stored by. A plain digest is enough: 256 random bits cannot be guessed. The time before it sorts tokens that are
 * issued together into the same pages of a database's index: with SQLite, a commit of 15 tokens writes 5 pages instead of 27, and
 * the service issues 1.5 × the tokens per second.
 */
export function accessTokenHash(token: string): string {
  return (shape.test(token) ? token.slice(0, 8) : '') + digest(token)
}
