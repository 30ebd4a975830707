import { expressionBuilder } from 'kysely'
import type { Keyring } from '../runtime/keyring.ts'
import { UsageError } from '../runtime/usage-error.ts'
import type { Schema } from './schema.ts'
import type { Database, Query } from './database.ts'

/** A secret that only its client can hash with another key. */
export interface SecretOfKey {
  readonly clientId: string
  readonly expiresAtMs?: number | undefined
  readonly lastUsedAtMs?: number | undefined
}

/** Whether a secret had not expired or been revoked by then. */
export function isValidAt(atMs: number) {
  const secret = expressionBuilder<Schema, 'secrets'>()
  return secret.or([secret('secrets.expiresAtMs', 'is', null), secret('secrets.expiresAtMs', '>', atMs)])
}

/** The keys that the valid secrets are hashed with, and how many secrets each has. */
export async function secretsByKey(query: Query, nowMs: number): Promise<ReadonlyMap<string, number>> {
  const rows = await query
    .selectFrom('secrets')
    .select((row) => ['keyId', row.fn.countAll<number>().as('secrets')])
    .where(isValidAt(nowMs))
    .groupBy('keyId')
    .execute()
  return new Map(rows.map(({ keyId, secrets }) => [keyId, secrets]))
}

/** The valid secrets that are hashed with a key, by client ID. */
export async function secretsOfKey(
  query: Query,
  { keyId, nowMs, limit }: { readonly keyId: string; readonly nowMs: number; readonly limit: number },
): Promise<SecretOfKey[]> {
  const rows = await query
    .selectFrom('secrets')
    .leftJoin('applications', 'applications.id', 'secrets.ownerId')
    .leftJoin('resourceServers', 'resourceServers.id', 'secrets.ownerId')
    .leftJoin('lastUses', 'lastUses.id', 'secrets.id')
    .select((row) => [
      row.fn.coalesce('applications.clientId', 'resourceServers.clientId').as('clientId'),
      'secrets.expiresAtMs',
      'lastUses.atMs as lastUsedAtMs',
    ])
    .where('secrets.keyId', '=', keyId)
    .where(isValidAt(nowMs))
    .orderBy('clientId')
    .limit(limit)
    .execute()
  return rows.map(({ clientId, expiresAtMs, lastUsedAtMs }) => ({
    clientId: clientId ?? '',
    expiresAtMs: expiresAtMs ?? undefined,
    lastUsedAtMs: lastUsedAtMs ?? undefined,
  }))
}

/** Client IDs for a message: each once, the first ones, and how many more there are. */
export async function clientsOfKey(
  query: Query,
  { keyId, nowMs }: { readonly keyId: string; readonly nowMs: number },
  named = 20,
): Promise<string> {
  const found = await secretsOfKey(query, { keyId, nowMs, limit: 10_000 })
  const ids = [...new Set(found.map(({ clientId }) => clientId))]
  const first = ids.slice(0, named).join(', ')
  return ids.length > named ? `${first} and ${ids.length - named} more clients` : first
}

/** A secret that its client has sent, hashed with the newest key. */
export interface RehashedSecret {
  readonly id: string
  /** The hash with an older key: nothing is changed if it is another one now. */
  readonly oldHash: string
  readonly keyId: string
  readonly hash: string
  /** When it was sent. */
  readonly atMs: number
}

/**
 * Replaces the hashes of secrets that are still valid, unless the new key was removed. A secret that somebody else is changing
 * keeps its hash until its next use: acts that change several lock them in an order of their own, and would wait for this
 * transaction while it waits for them.
 */
export async function rehashSecrets(
  { kind, query }: Pick<Database, 'kind' | 'query'>,
  secrets: readonly RehashedSecret[],
): Promise<void> {
  for (const { id, oldHash, keyId, hash, atMs } of secrets) {
    const found = query.selectFrom('secrets').select('id').where('id', '=', id)
    await query
      .updateTable('secrets')
      .set({ keyId, hash })
      .where('id', 'in', kind === 'postgres' ? found.forUpdate().skipLocked() : found)
      .where('hash', '=', oldHash)
      .where(isValidAt(atMs))
      .where((row) =>
        row.not(
          row.exists(
            row
              .selectFrom('removedHashKeys')
              .select('removedHashKeys.keyId')
              .where('removedHashKeys.keyId', '=', keyId),
          ),
        ),
      )
      .execute()
  }
}

export async function removedHashKeys(query: Query): Promise<Schema['removedHashKeys'][]> {
  return query.selectFrom('removedHashKeys').selectAll().orderBy('removedAtMs').execute()
}

/**
 * What a key that was removed hashes could not be checked by the other instances.
 *
 * @throws {@link UsageError} if the newest key was removed
 */
export async function checkNewestKey(
  query: Query,
  { keyIds: [newest = ''] }: Pick<Keyring, 'keyIds'>,
): Promise<void> {
  const removed = await query
    .selectFrom('removedHashKeys')
    .select('removedAtMs')
    .where('keyId', '=', newest)
    .executeTakeFirst()
  if (!removed) return
  throw new UsageError(
    `The first key in secretHashKeys, "${newest}", was removed on ${new Date(removed.removedAtMs).toISOString()}. Put the keys of the other instances in its place, and restart.`,
  )
}
