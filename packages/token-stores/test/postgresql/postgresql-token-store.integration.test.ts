import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createTokenProvider, type TokenEvent, type TokenResponse, type TokenSource } from '@tokenwell/core'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { createPostgresqlTokenStore, type EntryUnreadableEvent } from '@tokenwell/token-stores/postgresql'
import { describeTokenStore } from '@tokenwell/internal-testing/vitest'
import { Client, Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'

const minute = 60_000
const response: TokenResponse = { accessToken: 'the-secret-token', tokenType: 'Bearer', scope: [] }
const sourceOf = (requestToken: () => Promise<TokenResponse>): TokenSource => ({
  cacheKey: async () => 'key',
  requestToken,
})
/** Without a listener, a pool throws when the server closes an idle connection. */
const openPool = (connectionString: string): Pool =>
  new Pool({ connectionString, max: 20 }).on('error', () => {})
const newKey = () => crypto.getRandomValues(new Uint8Array(32))

describe.skipIf(postgresIsAbsent)(`PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  let url: string
  let pool: Pool
  beforeAll(async () => {
    postgres = await startPostgres()
    url = await postgres.createDatabase()
    pool = openPool(url)
  })
  afterAll(async () => {
    await pool.end()
    await postgres.stop()
  })

  describeTokenStore('createPostgresqlTokenStore', () => createPostgresqlTokenStore({ client: pool }))
  describeTokenStore('createPostgresqlTokenStore with encryption and another table', () =>
    createPostgresqlTokenStore({
      client: pool,
      table: 'public.Tokens',
      encryptionKeys: [newKey(), newKey()],
    }),
  )

  describe('a new database', () => {
    let other: Pool
    beforeEach(async () => {
      other = openPool(await postgres.createDatabase())
    })
    afterEach(() => other.end())

    it('gets its table once, from many concurrent processes', async () => {
      const stores = Array.from({ length: 20 }, () => createPostgresqlTokenStore({ client: other }))
      const leases = await Promise.all(stores.map((store) => store.lease('key', minute)))
      expect(leases.filter(Boolean)).toHaveLength(1)
    })

    it('gets rows with the names that every other version gives them', async () => {
      const rows = async (encryptionKeys?: Uint8Array[]) => {
        const store = createPostgresqlTokenStore({ client: other, encryptionKeys })
        const lease = await store.lease('a cache key', minute)
        await lease!.write(response, minute)
        await lease!.writeCooldown({ kind: 'unavailable', message: 'Down.' }, minute)
        await store.lease('a cache key', minute, 'fallback')
        const { rows } = await other.query('delete from tokenwell_entries returning name, kind')
        return rows.map(({ name, kind }) => `${name} ${kind}`).toSorted()
      }
      const kinds = ['cooldown', 'fallback', 'lease', 'token']
      expect(await rows()).toEqual(kinds.map((kind) => `y6WKHEI8r5kna6U2lqzOOhSooy0AgtOh7MEodu_yp7Q ${kind}`))
      expect(await rows([new Uint8Array(32).fill(1)])).toEqual(
        kinds.map((kind) => `oPKAoLkL.cvfCNGcF-Kq6-7QCIFNo5DJXtsVS0VqWYmYHHbLJ-LU ${kind}`),
      )
    })

    it('keeps no expired rows', async () => {
      const store = createPostgresqlTokenStore({ client: other })
      for (let index = 0; index < 20; index++) {
        const lease = await store.lease(`key ${index}`, 1)
        await lease?.release()
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
      await (await store.lease('last', minute))!.release()
      const { rows } = await other.query('select from tokenwell_entries')
      expect(rows).toHaveLength(0)
    })
  })

  it.each(['read committed', 'repeatable read', 'serializable'])(
    'grants one lease of many in a database whose default isolation is %s',
    async (level) => {
      const database = await postgres.createDatabase()
      const options = `-c default_transaction_isolation=${level.replace(' ', String.raw`\ `)}`
      const pools = Array.from({ length: 20 }, () =>
        new Pool({ connectionString: database, max: 2, options }).on('error', () => {}),
      )
      await Promise.all(pools.map((each) => each.query('select 1')))
      const stores = pools.map((client) => createPostgresqlTokenStore({ client }))
      for (let round = 0; round < 3; round++) {
        const leases = await Promise.all(stores.map((store) => store.lease('key', minute)))
        const [lease, ...others] = leases.filter(Boolean)
        expect(others).toEqual([])
        // While the others read, as they do when they wait for the token.
        const [written] = await Promise.all([
          lease!.write(response, minute),
          ...stores.map((store) => store.read('key')),
        ])
        expect(written).toBeDefined()
        await Promise.all([lease!.release(), ...stores.map((store) => store.lease('another key', 1))])
      }
      await Promise.all(pools.map((each) => each.end()))
    },
  )

  describe('a user who must not create the table', () => {
    let reader: string
    beforeAll(async () => {
      const database = await postgres.createDatabase()
      const owner = openPool(database)
      await owner.query('revoke create on schema public from public')
      const role = `reader_${crypto.randomUUID().replaceAll('-', '')}`
      await owner.query(`create role ${role} login password 'reader'`)
      await owner.end()
      const parts = new URL(database)
      Object.assign(parts, { username: role, password: 'reader' })
      reader = parts.href
    })

    it("leaves the application's connection without an open transaction", async () => {
      const client = new Client({ connectionString: reader })
      await client.connect()
      onTestFinished(() => client.end())
      await expect(createPostgresqlTokenStore({ client }).read('key')).rejects.toMatchObject({
        code: '42501',
      })
      expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }])
    })

    it('costs two connections of a pool, however often the store is used', async () => {
      const other = openPool(reader)
      onTestFinished(() => other.end())
      const connected = vi.fn()
      other.on('connect', connected)
      const store = createPostgresqlTokenStore({ client: other })
      for (let time = 0; time < 5; time++)
        await expect(store.read('key')).rejects.toMatchObject({ code: '42501' })
      expect(connected).toHaveBeenCalledTimes(2)
    })
  })

  it('lets many providers share one token request', async () => {
    await Promise.all(Array.from({ length: 20 }, () => pool.query('select pg_sleep(0.1)')))
    const requestToken = vi.fn(async () => ({ ...response, expiresIn: 60 }))
    const source = sourceOf(requestToken)
    const events: TokenEvent[] = []
    const providers = Array.from({ length: 10 }, () =>
      createTokenProvider(source, {
        store: createPostgresqlTokenStore({ client: pool }),
        onEvent: (event) => events.push(event),
      }),
    )
    const tokens = await Promise.all(providers.map((provider) => provider.getToken()))
    expect(new Set(tokens.map(({ value }) => value))).toEqual(new Set(['the-secret-token']))
    const causes = events.flatMap((event) => (event.type === 'store_unavailable' ? [event.cause] : []))
    // A provider that waited for 200 ms, on a slow machine, requests its own token.
    expect(causes.filter((cause) => cause !== 'slow')).toEqual([])
    expect(requestToken.mock.calls.length).toBeLessThanOrEqual(1 + causes.length)
    await Promise.all(providers.map((provider) => provider.close()))
  })

  it('grants the lease of a killed process again when it expires', async () => {
    const store = createPostgresqlTokenStore({ client: pool })
    const key = crypto.randomUUID()
    const holder = fork(fileURLToPath(new URL('lease-holder.ts', import.meta.url)), [url, key, '1500'], {
      execArgv: ['--conditions=@tokenwell/source'],
    })
    const [hasLease] = (await once(holder, 'message')) as [boolean]
    expect(hasLease).toBe(true)
    holder.kill('SIGKILL')
    await once(holder, 'exit')
    expect(await vi.waitUntil(() => store.lease(key, minute), 20_000)).toBeDefined()
  })

  it('uses the clock of the database', async () => {
    const store = createPostgresqlTokenStore({ client: pool })
    vi.spyOn(Date, 'now').mockReturnValue(0)
    try {
      const lease = await store.lease('by the clock', minute)
      await lease!.write(response, minute)
      expect(await store.read('by the clock')).toMatchObject({ remainingMs: expect.any(Number) })
    } finally {
      vi.restoreAllMocks()
    }
  })

  it('writes nothing if the clock was set back after the lease was taken', async () => {
    const ahead = {
      async query(text: string, values?: unknown[]) {
        const { rows } = await pool.query<{ now?: string }>(text, values)
        return { rows: rows.map((row) => ({ ...row, now: String(Number(row.now) + 3_600_000) })) }
      },
    }
    const lease = await createPostgresqlTokenStore({ client: ahead }).lease('set back', minute)
    expect(await lease!.write(response, 2 * 3_600_000)).toBeUndefined()
  })

  it('reports an entry that another program changed, and returns none', async () => {
    const events: EntryUnreadableEvent[] = []
    const store = createPostgresqlTokenStore({
      client: pool,
      table: 'changed_entries',
      encryptionKeys: [newKey()],
      onEvent: (event) => events.push(event),
    })
    await (await store.lease('changed', minute))!.write(response, minute)
    const { rows } = await pool.query<{ name: string; entry: string }>(
      `update changed_entries set entry = replace(entry, '.', '.x')
       where kind = 'token' returning name, entry`,
    )
    expect(JSON.stringify(rows)).not.toContain('the-secret-token')
    expect(await store.read('changed')).toBeUndefined()
    expect(events).toEqual([expect.objectContaining({ type: 'entry_unreadable', kind: 'token' })])
  })

  it('lets providers get tokens while the database is unavailable', async () => {
    const gone = openPool('postgres://nobody@127.0.0.1:1/none')
    const source = sourceOf(async () => ({ ...response, expiresIn: 60 }))
    const tokens = createTokenProvider(source, {
      store: createPostgresqlTokenStore({ client: gone }),
    })
    const events: string[] = []
    tokens.subscribe(({ type }) => events.push(type))
    expect((await tokens.getToken()).value).toBe('the-secret-token')
    expect(events).toContain('store_unavailable')
    await tokens.close()
    await gone.end()
  })
})
