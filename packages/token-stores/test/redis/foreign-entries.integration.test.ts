import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { TokenResponse, TokenStore } from '@tokenwell/core'
import type { StoredCooldown, StoredToken } from '@tokenwell/core/adapter'
import { createRandom } from '@tokenwell/internal-testing/random'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { createRedisTokenStore, type EntryUnreadableEvent } from '@tokenwell/token-stores/redis'
import { report } from './fleet.ts'
import { recordingClient } from './test-caller.ts'

const cacheKeys = Array.from({ length: 50 }, (_, index) => `cache key ${index}`)
const response: TokenResponse = {
  accessToken: 'genuine',
  tokenType: 'Bearer',
  expiresIn: 60,
  scope: ['read', 'write'],
  clientId: 'client',
  refreshCount: 0,
  apiProducts: ['one'],
}
const rejection = {
  kind: 'credentials',
  message: 'rejected',
  status: 401,
  oauthError: 'invalid_client',
} as const

// The same random numbers each time; `pnpm soak` writes many more of them, with a random seed.
const isSoak = process.env['TOKENWELL_SOAK'] === '1'
const count = isSoak ? 20_000 : 1_000
const table = isSoak ? createSoakTable() : undefined

/** Lets another program write the entries that the store reads. */
describe.skipIf(!redisInstalled)(`${count} entries written by another program`, () => {
  let redis: RedisServer
  let client: ReturnType<typeof connection>
  const connection = () => createClient({ url: redis.url })
  const seed = Number(process.env['SEED'] ?? (isSoak ? Date.now() % 1e9 : 20_261_126))
  const random = createRandom(seed)
  const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)]!
  const randomBytes = (length: number) => Buffer.from(Array.from({ length }, () => random() * 256))
  beforeAll(async () => {
    redis = await startRedis()
    client = await connection().connect()
  })
  afterAll(async () => {
    client?.destroy()
    await redis?.[Symbol.asyncDispose]()
  })
  beforeEach(() => client.flushDb())

  /** A store with a genuine token and cooldown for each cache key, and their values in Redis. */
  async function filledStore(
    encryptionKeys: Uint8Array[] | undefined,
    onEvent?: (event: EntryUnreadableEvent) => void,
  ) {
    const { client: recorded, trips } = recordingClient(client)
    const store = createRedisTokenStore({ client: recorded, encryptionKeys, onEvent })
    const names: string[] = []
    for (const cacheKey of cacheKeys) {
      const lease = (await store.lease(cacheKey, 5_000))!
      await lease.write(response, 3_600_000)
      await lease.writeCooldown(rejection, 3_600_000)
      await store.read(cacheKey)
      names.push(trips.at(-1)!.keys[0]!)
    }
    const genuine = await Promise.all(
      names.map(async (name) => ({
        token: (await client.hGet(name, 'token'))!,
        cooldown: (await client.hGet(name, 'cooldown'))!,
      })),
    )
    return { store, names, genuine }
  }

  /** Writes a forged entry for one cache key after another, and returns what the store reads. */
  async function readForged(
    { store, names }: { store: TokenStore; names: readonly string[] },
    forge: (index: number) => string | Buffer,
    kind: 'token' | 'cooldown',
    encrypted: boolean,
  ) {
    const read: Awaited<ReturnType<TokenStore['read']>>[] = []
    const run = async () => {
      for (let done = 0; done < count; done += cacheKeys.length) {
        await Promise.all(names.map((name, index) => client.hSet(name, kind, forge(index))))
        read.push(...(await Promise.all(cacheKeys.map((cacheKey) => store.read(cacheKey)))))
      }
      return { calls: count, figures: `${read.filter(Boolean).length} read, seed ${seed}` }
    }
    await (table ? table.measure(`forged ${kind}s, ${encrypted ? 'encrypted' : 'plain text'}`, run) : run())
    return read
  }

  it.each(['token', 'cooldown'] as const)(
    'are ignored and reported as a %s with encryption',
    async (kind) => {
      let events = 0
      const key = Buffer.alloc(32, 1)
      const otherKey = (await filledStore([Buffer.alloc(32, 2)])).genuine
      const plain = (await filledStore(undefined)).genuine
      await client.flushDb()
      const filled = await filledStore([key], () => events++)
      const { genuine, names } = filled
      const other = kind === 'token' ? 'cooldown' : 'token'
      await Promise.all(names.map((name) => client.hDel(name, other)))
      const flip = (value: string) => {
        const bytes = Buffer.from(value)
        const at = Math.floor(random() * bytes.length)
        bytes[at] = bytes[at]! ^ (1 << Math.floor(random() * 8))
        return bytes
      }
      const forgeries: ((own: string, index: number) => string | Buffer)[] = [
        (own) => flip(own),
        (own) => flip(flip(own).toString('latin1')),
        (own) => own.slice(0, Math.floor(random() * own.length)),
        (own) => own.slice(1 + Math.floor(random() * own.length)),
        (own) => own + pick(['A', '=', '\n', ' ', '.', '\0']),
        (own) => own.replace(/\.\d+\./, `.${Date.now() + Math.floor(random() * 1e10)}.`),
        (own) => own.replace(/^[^.]+/, crypto.randomUUID()),
        (own) => own.replace(/\.(?=\d)/, '.0'),
        (_, index) =>
          genuine[(index + 1 + Math.floor(random() * (cacheKeys.length - 1))) % cacheKeys.length]![kind],
        (_, index) => genuine[index]![other],
        (_, index) => otherKey[index]![kind],
        (_, index) => plain[index]![kind],
        (own, index) =>
          own.split('.').slice(0, 2).join('.') + '.' + plain[index]![kind].split('.').slice(2).join('.'),
        () => randomBytes(Math.floor(random() * 400)),
        () => '',
        () => JSON.stringify({ access_token: 'forged', token_type: 'Bearer', expires_in: 3600 }),
      ]
      const used = new Map<number, number>()
      const read = await readForged(
        filled,
        (index) => {
          const own = genuine[index]![kind]
          for (;;) {
            const which = Math.floor(random() * forgeries.length)
            const forged = forgeries[which]!(own, index)
            if (forged.toString('latin1') === Buffer.from(own).toString('latin1')) continue
            used.set(which, (used.get(which) ?? 0) + 1)
            return forged
          }
        },
        kind,
        true,
      )
      report(`forged ${kind}s with keys`, {
        seed,
        read: read.filter(Boolean).length,
        events,
        forgeries: used.size,
      })
      expect(used.size).toBe(forgeries.length)
      expect(read.filter(Boolean)).toEqual([])
      expect(events).toBe(count)
      await Promise.all(names.map((name, index) => client.hSet(name, kind, genuine[index]![kind])))
      const restored = await Promise.all(cacheKeys.map((cacheKey) => filled.store.read(cacheKey)))
      expect(restored.filter(Boolean)).toHaveLength(cacheKeys.length)
    },
  )

  it.each(['token', 'cooldown'] as const)(
    'are never returned as an invalid %s without encryption',
    async (kind) => {
      const filled = await filledStore(undefined)
      const other = kind === 'token' ? 'cooldown' : 'token'
      await Promise.all(filled.names.map((name) => client.hDel(name, other)))
      const randomValue = (depth = 0): unknown =>
        pick([
          () => null,
          () => undefined,
          () => '',
          () => 'text with blanks',
          () => 'é\n\r\u0000',
          () => random() * 1e6 - 1e3,
          () => -0,
          () => 1e308,
          () => '12',
          () => true,
          () => ({}),
          () => (depth < 2 ? [randomValue(depth + 1), randomValue(depth + 1)] : []),
          () => (depth < 2 ? { __proto__: 1, error: randomValue(depth + 1) } : {}),
        ])()
      const read = await readForged(
        filled,
        (index) => {
          const own = filled.genuine[index]![kind]
          const [id, end, ...body] = own.split('.')
          const members = JSON.parse(body.join('.')) as Record<string, unknown>
          for (let change = 0; change < 1 + random() * 3; change++) {
            members[pick([...Object.keys(members), 'error', 'fault', '__proto__', 'level'])] = randomValue()
          }
          const text = pick([
            () => JSON.stringify(members),
            () => JSON.stringify(members).slice(0, Math.floor(random() * 200)),
            () => JSON.stringify(randomValue()) ?? 'undefined',
            () => randomBytes(Math.floor(random() * 100)).toString('latin1'),
          ])()
          return [
            id,
            pick([end, end, end, '-1', '1e99', '9'.repeat(15), '9'.repeat(16), 'NaN', '']),
            text,
          ].join('.')
        },
        kind,
        false,
      )
      const found = read.filter((entry) => entry !== undefined)
      report(`forged ${kind}s without keys`, { seed, read: found.length })
      expect(found.length).toBeGreaterThan(count / 100)
      for (const entry of found) {
        if (kind === 'token') expectToken(entry as StoredToken)
        else expectCooldown(entry as StoredCooldown)
      }
    },
  )
})

function expectToken({ id, response: found, remainingMs, ...others }: StoredToken): void {
  const problems = Object.entries(found).filter(([name, value]: [string, unknown]) => {
    if (name === 'accessToken') return typeof value !== 'string' || !/^[!-~]([ -~]*[!-~])?$/.test(value)
    if (name === 'tokenType') return value !== 'Bearer' && value !== 'DPoP'
    if (name === 'extra') return typeof value !== 'object' || value === null
    if (name === 'issuedAt') return !(value instanceof Date) || Number.isNaN(value.getTime())
    if (/^(scope|apiProducts)$/.test(name)) {
      return !Array.isArray(value) || value.some((word) => typeof word !== 'string' || word === '')
    }
    if (/^(expiresIn|refreshIn|refreshTokenExpiresIn|refreshCount)$/.test(name)) {
      return typeof value !== 'number' || !Number.isFinite(value) || value < 0
    }
    return typeof value !== 'string' || value === ''
  })
  expect({ problems, others }).toEqual({ problems: [], others: {} })
  expect(found).toMatchObject({
    accessToken: expect.any(String),
    tokenType: 'Bearer',
    scope: expect.any(Array),
  })
  expect(id).toMatch(/^[\w-]+$/)
  expect(remainingMs).toBeGreaterThan(0)
  expect(remainingMs).toBeLessThan(1e15)
}

function expectCooldown({ cooldownMs, error, ...others }: StoredCooldown): void {
  expect(others).toEqual({})
  expect(cooldownMs).toBeGreaterThan(0)
  expect(['credentials', 'configuration', 'throttled', 'unavailable', 'malformed', 'aborted']).toContain(
    error.kind,
  )
  expect(error.message).toEqual(expect.any(String))
  expect(error.status ?? 0).toEqual(expect.any(Number))
  expect(error.oauthError ?? 'code').toMatch(/^[\w.-]{1,80}$/)
}
