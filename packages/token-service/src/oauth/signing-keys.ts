import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK } from 'jose'
import type { Perform } from '../storage/act.ts'
import type { Keyring } from '../runtime/keyring.ts'
import type { Clock } from '../runtime/clock.ts'
import { StorageFailure } from '../storage/storage-failure.ts'
import { UsageError } from '../runtime/usage-error.ts'
import type { Actor } from '../storage/audit-storage.ts'
import type { Database } from '../storage/database.ts'
import { signingKeyStorage, type StoredSigningKey } from './signing-key-storage.ts'

export const signingAlgorithms = ['ES256', 'RS256', 'EdDSA'] as const
export type SigningAlgorithm = (typeof signingAlgorithms)[number]

/** How long caches may keep the published keys. */
export const publicationMaxAgeSeconds = 300

/** How long a key is published before it signs: as long as HTTP caches and verifiers keep keys, and a reserve. */
const publicationSeconds = 900

const leastOverlapSeconds = 86_400

/** The next key has not been published long enough. */
export class RotatedTooEarly extends UsageError {}

export interface SigningKey {
  readonly kid: string
  readonly algorithm: string
  readonly key: CryptoKey
}

export interface Rotation {
  /** Every key is replaced at once: no API accepts what was signed before. */
  readonly emergency?: boolean | undefined
  /** How long the present key stays published. @default a day, or the longest lifetime of JWTs */
  readonly overlapSeconds?: number | undefined
}

/** The keys of JWTs, the same for all instances: the next, the current and the last ones. */
export interface SigningKeys {
  /** Creates the first keys, and replaces a next key of another algorithm than the configured one. */
  prepare(): Promise<void>
  /** Throws a {@link StorageFailure} if the private key cannot be decrypted. */
  current(): Promise<SigningKey>
  /** Public keys as JWKs. */
  published(): Promise<JWK[]>
  list(): Promise<Omit<StoredSigningKey, 'publicKey' | 'encryptedKey'>[]>
  /** Throws {@link RotatedTooEarly}, or a {@link UsageError} if the overlap is too short. */
  rotate(by: Actor, rotation?: Rotation): Promise<void>
}

export interface SigningKeysContext {
  readonly database: Database
  readonly perform: Perform
  readonly keyring: Keyring
  readonly clock: Clock
  readonly algorithm: SigningAlgorithm
  readonly warn: (message: string) => void
}

const byService = { actorType: 'service' } as const

export function createSigningKeys({
  database,
  perform,
  keyring,
  clock,
  algorithm,
  warn,
}: SigningKeysContext): SigningKeys {
  const storage = signingKeyStorage(database)
  let imported: SigningKey | undefined

  async function create(state: 'next' | 'current'): Promise<StoredSigningKey> {
    const { publicKey, privateKey } = await generateKeyPair(algorithm, { extractable: true })
    const jwk = await exportJWK(publicKey)
    const kid = await calculateJwkThumbprint(jwk)
    return {
      kid,
      algorithm,
      publicKey: JSON.stringify({ ...jwk, kid, alg: algorithm, use: 'sig' }),
      encryptedKey: await keyring.encrypt(JSON.stringify(await exportJWK(privateKey))),
      state,
      createdAtMs: clock.now(),
    }
  }

  const decrypt = ({ encryptedKey }: StoredSigningKey) => keyring.decrypt(encryptedKey)

  return {
    async prepare() {
      const keys = await storage.list()
      const signing = keys.filter(({ state }) => state !== 'last')
      if ((await Promise.all(signing.map(decrypt))).includes(undefined)) {
        warn(
          'A signing key cannot be decrypted with any of the keys in secretHashKeys. Add the missing key, or run tokenwell-service admin rotate-signing-key.',
        )
      }
      const next = keys.find(({ state }) => state === 'next')
      if (next?.algorithm === algorithm) return
      const created = [await create('current'), await create('next')]
      await perform(byService, async (act) => {
        const signingKeys = signingKeyStorage(act)
        const present = await signingKeys.list()
        const obsolete = present.find(({ state }) => state === 'next')
        // Another instance was faster.
        if (obsolete?.algorithm === algorithm) return
        if (obsolete) await signingKeys.remove([obsolete.kid])
        await signingKeys.add(present.length === 0 ? created : created.slice(1))
      })
    },
    async current() {
      const stored = (await storage.list()).find(({ state }) => state === 'current')
      if (stored && imported?.kid === stored.kid) return imported
      const jwk = stored && (await decrypt(stored))
      if (!stored || jwk === undefined)
        throw new StorageFailure(new Error('the current signing key cannot be decrypted'))
      const key = (await importJWK(JSON.parse(jwk) as JWK, stored.algorithm)) as CryptoKey
      imported = { kid: stored.kid, algorithm: stored.algorithm, key }
      return imported
    },
    async published() {
      const nowMs = clock.now()
      return (await storage.list())
        .filter(({ expiresAtMs = Infinity }) => expiresAtMs > nowMs)
        .map(({ publicKey }) => JSON.parse(publicKey) as JWK)
    },
    async list() {
      const keys = await storage.list()
      return keys.map(({ kid, algorithm: its, state, createdAtMs, expiresAtMs }) => ({
        kid,
        algorithm: its,
        state,
        createdAtMs,
        expiresAtMs,
      }))
    },
    async rotate(by, { emergency = false, overlapSeconds } = {}) {
      const created = [await create('current'), await create('next')] as const
      await perform(by, async (act) => {
        const signingKeys = signingKeyStorage(act)
        const keys = await signingKeys.list()
        if (emergency) {
          await signingKeys.remove(keys.map(({ kid }) => kid))
          await signingKeys.add(created)
          return act.audit('signing_keys_replaced', { detail: created[0].kid })
        }
        const current = keys.find(({ state }) => state === 'current')
        const next = keys.find(({ state }) => state === 'next')
        const canSign = current !== undefined && (await decrypt(current)) !== undefined
        const isUsable = next !== undefined && (await decrypt(next)) !== undefined
        const waitMs = (next?.createdAtMs ?? 0) + publicationSeconds * 1000 - clock.now()
        if (canSign && isUsable && waitMs > 0) {
          throw new RotatedTooEarly(
            `The next signing key is not known to every API yet. Rotate again in ${Math.ceil(waitMs / 60_000)} minutes, or without an overlap (emergency).`,
          )
        }
        const longest = await signingKeyStorage(act).longestJwtLifetimeSeconds()
        const overlap = overlapSeconds ?? Math.max(leastOverlapSeconds, longest)
        if (overlap < longest) {
          throw new UsageError(
            `The overlap must be at least ${longest} seconds, the longest lifetime of JWTs. A rotation without an overlap is an emergency.`,
          )
        }
        const expiresAtMs = clock.now() + overlap * 1000
        if (current) await signingKeys.update(current.kid, { state: 'last', expiresAtMs })
        if (next && isUsable) await signingKeys.update(next.kid, { state: 'current' })
        else if (next) await signingKeys.remove([next.kid])
        await signingKeys.add(isUsable ? created.slice(1) : created)
        act.audit('signing_key_rotated', { detail: isUsable ? next.kid : created[0].kid })
      })
    },
  }
}
