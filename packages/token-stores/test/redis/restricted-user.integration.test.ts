import { readFile } from 'node:fs/promises'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { redisInstalled, startRedis, type RedisServer } from '@tokenwell/internal-testing/redis'

// The command in OPERATIONS.md.
const operations = await readFile(new URL('../../OPERATIONS.md', import.meta.url), 'utf8')
const [, rules = ''] = /^ACL SETUSER tokenwell (.*)$/m.exec(operations) ?? []
const commands = rules.split(' ').filter((rule) => rule.startsWith('+'))

describe.skipIf(!redisInstalled)('a Redis user with the permissions in OPERATIONS.md', () => {
  let redis: RedisServer
  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(() => redis[Symbol.asyncDispose]())
  beforeEach(async () => {
    const admin = await createClient({ url: redis.url }).connect()
    await admin.sendCommand(['SCRIPT', 'FLUSH'])
    await admin.sendCommand(['ACL', 'SETUSER', 'tokenwell', 'reset', ...rules.split(' ')])
    admin.destroy()
  })

  /** Everything that a token provider does with a store. */
  async function useStore(): Promise<void> {
    const password = /(?<=>)\S+/.exec(rules)![0]
    const client = createClient({ url: redis.url, username: 'tokenwell', password })
    client.on('error', () => {})
    await client.connect()
    try {
      const store = createRedisTokenStore({ client })
      const key = crypto.randomUUID()
      const lease = (await store.lease(key, 5_000))!
      expect(await store.lease(key, 5_000)).toBeUndefined()
      expect(await lease.extend(5_000)).toBe(true)
      await lease.writeCooldown(
        { kind: 'credentials', message: 'rejected', oauthError: 'invalid_client' },
        30_000,
      )
      const id = await lease.write({ accessToken: 'token', tokenType: 'Bearer', scope: [] }, 60_000)
      await lease.release()
      expect(await store.read(key)).toMatchObject({ id })
      await store.remove(key, id!)
      expect(await store.read(key)).toBeUndefined()
    } finally {
      client.destroy()
    }
  }

  it('can use the store', async () => {
    await expect(useStore()).resolves.toBeUndefined()
  })

  it.each(commands)('needs %s', async (command) => {
    const admin = await createClient({ url: redis.url }).connect()
    await admin.sendCommand(['ACL', 'SETUSER', 'tokenwell', command.replace('+', '-')])
    admin.destroy()
    await expect(useStore()).rejects.toMatchObject({ code: 'NOPERM' })
  })

  it('cannot use keys of other programs', async () => {
    const admin = await createClient({ url: redis.url }).connect()
    await admin.sendCommand(['ACL', 'SETUSER', 'tokenwell', 'resetkeys', '~other:*'])
    admin.destroy()
    await expect(useStore()).rejects.toMatchObject({ code: 'NOPERM' })
  })
})
