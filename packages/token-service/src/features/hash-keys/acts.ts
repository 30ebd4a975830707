import type { Keyring } from '../../runtime/keyring.ts'
import { NotFoundError, UsageError } from '../../runtime/usage-error.ts'
import type { Act } from '../../storage/act.ts'
import {
  checkNewestKey,
  clientsOfKey,
  removedHashKeys,
  secretsByKey,
  secretsOfKey,
  type SecretOfKey,
} from '../../storage/hash-keys.ts'
import { lockSecrets, type Database } from '../../storage/database.ts'
import { purgeTimeStorage } from '../../storage/purge-time.ts'
import { signingKeyStorage } from '../../oauth/signing-key-storage.ts'

/** The key is the newest one, or secrets can be checked with it alone. */
export class HashKeyInUse extends UsageError {}

/** A key that secrets are or were hashed with. */
interface HashKey {
  readonly id: string
  /**
   * `current`: new secrets are hashed with it; `older`: it is configured too; `missing`: its secrets are rejected, because it is
   * not configured; `removed`: no secret needs it.
   */
  readonly state: 'current' | 'older' | 'missing' | 'removed'
  /** How many valid secrets only this key can check. */
  readonly secrets: number
  /** The first of them, by client ID. */
  readonly neededBy: readonly SecretOfKey[]
  readonly removedAtMs?: number | undefined
}

/** Keys that are not configured, and the clients whose secrets only they can check. */
interface MissingKey {
  readonly id: string
  readonly secrets: number
  /** Client IDs, for a message. */
  readonly clients: string
}

const maxNeeded = 1_000

/** The newest first, then those that are missing or were removed. */
export async function listHashKeys(
  { query }: Pick<Database, 'query'>,
  { keyIds }: Pick<Keyring, 'keyIds'>,
  nowMs: number,
): Promise<HashKey[]> {
  const [counts, removed] = [await secretsByKey(query, nowMs), await removedHashKeys(query)]
  const removedAt = new Map(removed.map(({ keyId, removedAtMs }) => [keyId, removedAtMs]))
  const ids = new Set([...keyIds, ...counts.keys(), ...removedAt.keys()])
  const keys: HashKey[] = []
  for (const id of ids) {
    const needed = counts.has(id) ? await secretsOfKey(query, { keyId: id, nowMs, limit: maxNeeded }) : []
    const removedAtMs = removedAt.get(id)
    const configured = id === keyIds[0] ? 'current' : keyIds.includes(id) ? 'older' : 'missing'
    keys.push({
      id,
      state: removedAtMs === undefined ? configured : 'removed',
      secrets: counts.get(id) ?? 0,
      neededBy: needed,
      removedAtMs,
    })
  }
  return keys
}

/** Those that valid secrets need, and that the keyring lacks. */
async function findMissingKeys(
  { query }: Pick<Database, 'query'>,
  { keyIds }: Pick<Keyring, 'keyIds'>,
  nowMs: number,
): Promise<MissingKey[]> {
  const missing = [...(await secretsByKey(query, nowMs))].filter(([id]) => !keyIds.includes(id))
  return Promise.all(
    missing.map(async ([id, secrets]) => ({
      id,
      secrets,
      clients: await clientsOfKey(query, { keyId: id, nowMs }),
    })),
  )
}

/**
 * Records that a key is no longer needed, so that it can be taken out of the configuration of every instance.
 *
 * @throws {@link HashKeyInUse} while a valid secret is hashed with it, and for the newest key
 * @throws {@link NotFoundError} if there is no such key
 */
export async function removeHashKey(act: Act, id: string): Promise<void> {
  const { query, keyring, clock } = act
  const nowMs = clock.now()
  if (id === keyring.keyIds[0]) {
    throw new HashKeyInUse(
      `The key "${id}" is the first one in secretHashKeys, which new secrets are hashed with. Put another key before it, and restart.`,
    )
  }
  // An authentication elsewhere that renews a hash must not come between the check and the removal.
  await lockSecrets(act)
  const key = (await listHashKeys(act, keyring, nowMs)).find((listed) => listed.id === id)
  if (!key) throw new NotFoundError(`There is no key "${id}".`)
  if (key.secrets > 0) {
    throw new HashKeyInUse(
      `The key "${id}" cannot be removed: ${key.secrets} secrets need it, of ${await clientsOfKey(query, { keyId: id, nowMs })}. A secret is hashed with the first key when its client next uses it. Rotate or revoke those that are not used.`,
    )
  }
  if (key.state === 'removed') return
  await renewHashKeys(act, keyring)
  await query.insertInto('removedHashKeys').values({ keyId: id, removedAtMs: nowMs }).execute()
  act.audit('hash_key_removed', { detail: id })
}

/** Encrypts and signs with the newest key what the older ones have, so that they can be removed. */
export async function renewHashKeys(database: Database, keyring: Keyring): Promise<void> {
  const purgeTime = purgeTimeStorage(database)
  const purgedAtMs = await purgeTime.find(keyring)
  if (purgedAtMs !== undefined) await purgeTime.set(purgedAtMs, keyring)
  const signingKeys = signingKeyStorage(database)
  for (const { kid, state, encryptedKey } of await signingKeys.list()) {
    const renewed = state === 'last' ? undefined : await keyring.withNewestKey(encryptedKey)
    if (renewed !== undefined) await signingKeys.update(kid, { encryptedKey: renewed })
  }
}

/**
 * With the keys of another database every secret would be rejected, without an explanation.
 *
 * @throws {@link UsageError} if no secret can be checked, or the newest key was removed
 */
export async function checkHashKeys(database: Database, keyring: Keyring, nowMs: number): Promise<void> {
  await checkNewestKey(database.query, keyring)
  const used = [...(await secretsByKey(database.query, nowMs)).keys()]
  if (used.length > 0 && !used.some((id) => keyring.keyIds.includes(id))) {
    throw new UsageError(
      'None of the keys matches this database. Pass the keys that its secrets were hashed with, newest first.',
    )
  }
}

/** Looks for missing keys at the start and once a minute, and warns about each once an hour. */
export interface HashKeyWatch {
  readonly check: (database: Pick<Database, 'query'>) => Promise<void>
  /** What the last look has found. */
  readonly missing: () => readonly MissingKey[]
}

const warningPauseMs = 3_600_000

export function watchHashKeys({
  keyring,
  clock,
  warn,
}: Pick<Act, 'keyring' | 'clock'> & { readonly warn: (message: string) => void }): HashKeyWatch {
  let missing: readonly MissingKey[] = []
  const warned = new Map<string, number>()
  return {
    missing: () => missing,
    async check(database) {
      const nowMs = clock.now()
      missing = await findMissingKeys(database, keyring, nowMs)
      for (const { id, secrets, clients } of missing) {
        if (nowMs - (warned.get(id) ?? -Infinity) < warningPauseMs) continue
        warned.set(id, nowMs)
        warn(
          `The key "${id}" is missing in secretHashKeys: ${secrets} secrets are rejected, of ${clients}. Add the key, or rotate these secrets.`,
        )
      }
    },
  }
}
