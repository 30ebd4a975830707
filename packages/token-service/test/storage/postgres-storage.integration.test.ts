import { sql } from 'kysely'
import { connect, createServer } from 'node:net'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { pgbouncerIsAbsent, startPgbouncer, withoutPgbouncer } from '@tokenwell/internal-testing/pgbouncer'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { digest } from '../../src/runtime/digest.ts'
import type { StoredToken } from '../../src/oauth/token-storage.ts'
import { openPostgres } from '../../src/storage/open-postgres.ts'
import { catalogueStorage } from '../../src/features/catalogue/storage.ts'
import { createStorage, type Storage } from '../../src/features/context.ts'
import { rotateSecret } from '../../src/features/credentials/acts.ts'
import { openTestOptions, openTestPostgres, performOn } from './open-test-storage.ts'
import { testService } from '../test-service.ts'
import { register } from './storage-contract.ts'

/** Creates tokens for a secret. */
function tokensOf({ secrets: [secret] }: Awaited<ReturnType<typeof register>>) {
  const { id: secretId, ownerId: applicationId } = secret!
  const of = { applicationId, secretId, generation: 0, products: [], scopes: [], audiences: [] }
  return (hash: string): StoredToken => ({ ...of, hash, issuedAtMs: 1, expiresAtMs: 2 })
}

describe.skipIf(postgresIsAbsent)(`a PostgreSQL database (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  /** A client, and how many transactions wait for a lock. */
  async function twoClients(url: string) {
    // A transaction sees the activity of the others as it was when it first looked.
    const [other, observer] = [new Client({ connectionString: url }), new Client({ connectionString: url })]
    await Promise.all([other.connect(), observer.connect()])
    onTestFinished(() => Promise.all([other.end(), observer.end()]).then(() => {}))
    const query =
      "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
    return { other, waiting: async () => (await observer.query(query)).rowCount ?? 0 }
  }

  it('is migrated once by many instances that start at the same time', async () => {
    const url = await postgres.createDatabase()
    const opened = await Promise.all(Array.from({ length: 5 }, () => openTestPostgres(url)))
    await Promise.all(opened.map((storage) => storage.probe()))
    await Promise.all(opened.map((storage) => storage.close()))
    const client = new Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(`select detail from audit where event = 'database_created'`)
    await client.end()
    expect(rows).toHaveLength(1)
  })

  it('runs one act after another in all instances, and numbers their entries in this order', async () => {
    const url = await postgres.createDatabase()
    const instances = await Promise.all([1, 2].map(() => openTestPostgres(url)))
    let running = 0
    const act = (storage: Storage) =>
      performOn(storage)({ actorType: 'api' }, async (each) => {
        running += 1
        expect(running).toBe(1)
        const products = catalogueStorage(each, 'products')
        const { length } = await products.list()
        await products.add([`product ${length}`])
        each.audit('product_added', { detail: String(length) })
        running -= 1
      })
    await Promise.all(Array.from({ length: 40 }, (_, index) => act(instances[index % 2]!)))
    const added = (await instances[0]!.audit.after(1, 99)).map(({ detail }) => Number(detail))
    expect(added).toEqual(Array.from({ length: 40 }, (_, index) => index))
    await Promise.all(instances.map((each) => each.close()))
  })

  it('locks failure counts in the order of their keys, so that instances cannot block each other', async () => {
    const url = await postgres.createDatabase()
    const storage = await openTestPostgres(url)
    const { other, waiting } = await twoClients(url)
    onTestFinished(() => storage.close())
    const add = (...clientIds: string[]) =>
      Promise.all(clientIds.map((clientId) => storage.failures.add(clientId, 1, 100)))
    const [first = '', second = '', third = ''] = ['a', 'b', 'c'].sort((a, b) =>
      digest(a) < digest(b) ? -1 : 1,
    )
    await add(first, second, third)

    await other.query('begin')
    await other.query('select from failures where key = $1 for update', [digest(first)])
    const adding = add(second, first, third)
    await expect.poll(waiting).toBe(1)
    expect((await other.query('select from failures for update skip locked')).rowCount).toBe(3)
    await other.query('commit')
    expect((await adding).map(({ count }) => count)).toEqual([2, 2, 2])
  })

  it('hashes secrets again while they are rotated, without a deadlock', async () => {
    const url = await postgres.createDatabase()
    const storage = await openTestPostgres(url)
    const { other, waiting } = await twoClients(url)
    onTestFinished(() => storage.close())
    const { application } = await register(storage, 0)
    const owner = { ...application, kind: 'applications' as const, secrets: [] }
    // A rotation finds them in this order.
    for (const id of ['second', 'first']) {
      const secret = {
        id,
        ownerId: owner.id,
        keyId: 'old',
        hash: `old ${id}`,
        prefix: 'abcd',
        createdAtMs: 1,
      }
      await storage.secrets.add(secret)
    }
    const rehashed = ['first', 'second'].map((id) => {
      return { id, oldHash: `old ${id}`, keyId: 'new', hash: `new ${id}`, atMs: 1 }
    })
    const hashes = async () =>
      (
        await other.query<{ hash: string }>(
          `select hash from secrets where id in ('first', 'second') order by id`,
        )
      ).rows
    /** Starts some work, and resolves when it has ended or waits for a lock. */
    const begin = async (start: () => Promise<unknown>) => {
      const before = await waiting()
      const work = start()
      let isDone = false
      void work.then(
        () => (isDone = true),
        () => (isDone = true),
      )
      await expect.poll(async () => isDone || (await waiting()) > before).toBe(true)
      return { work }
    }

    await other.query('begin')
    await other.query(`select from secrets where id = 'first' for update`)
    const activity = { lastUses: [], usage: [], requests: [], events: [] }
    const rehashing = await begin(() => storage.activity.record({ ...activity, rehashed }))
    const rotation = await begin(() =>
      performOn(storage)({ actorType: 'api' }, (act) => rotateSecret(act, owner, { overlapMs: 60_000 })),
    )
    await other.query('commit')
    await Promise.all([rehashing.work, rotation.work])
    // The one that was locked is left to its next use.
    expect(await hashes()).toEqual([{ hash: 'old first' }, { hash: 'new second' }])
    await storage.activity.record({ ...activity, rehashed })
    expect(await hashes()).toEqual([{ hash: 'new first' }, { hash: 'new second' }])
    const { rowCount } = await other.query(`select from secrets where expires_at_ms is not null`)
    expect(rowCount).toBe(2)
  })

  it('finds the secrets that expire by their index', async () => {
    const url = await postgres.createDatabase()
    const storage = await openTestPostgres(url)
    const client = new Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => Promise.all([client.end(), storage.close()]).then(() => {}))
    // In an empty database, reading whole tables costs least.
    await client.query('set enable_seqscan = off')
    const queries = vi.spyOn(Client.prototype, 'query')
    await storage.listings.expiringSecrets([1, 2], { limit: 1, offset: 0, ownerId: 'ada', usedSinceMs: 1 })
    const sent = (queries.mock.calls as unknown as [text: string, values: unknown[]][]).filter(([text]) =>
      text.startsWith('select'),
    )
    queries.mockRestore()
    expect(sent).toHaveLength(2)
    for (const [text, values] of sent) {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain ${text}`, values)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).toContain('secrets_expiry')
      expect(plan).not.toContain('Seq Scan')
    }
  })

  it('makes every token durable, and limits the locks and pauses of each act, whatever its defaults are', async () => {
    const url = await postgres.createDatabase()
    const client = new Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    await client.query(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`)
    const storage = await openTestPostgres(url)
    onTestFinished(() => storage.close())
    await client.query(`create table commits (of text, mode text);
      create function note() returns trigger language plpgsql as $$ begin
        insert into commits values (tg_table_name || ' ' || tg_op, current_setting('synchronous_commit'));
        return null;
      end $$;
      create trigger note after insert or delete on tokens for each row execute function note();
      create trigger note after insert on used_assertions for each row execute function note()`)
    const token = tokensOf(await register(storage))
    await storage.tokens.save(token('a token'))
    await storage.tokens.remove('a token')
    await storage.assertions.use('an assertion', 1)
    const { rows } = await client.query('select * from commits order by of')
    expect(rows).toEqual(
      ['tokens DELETE', 'tokens INSERT', 'used_assertions INSERT'].map((of) => ({ of, mode: 'on' })),
    )

    const settings = await performOn(storage)({ actorType: 'api' }, async ({ query }) => {
      const names = ['synchronous_commit', 'lock_timeout', 'idle_in_transaction_session_timeout']
      const shown = names.map((name) => sql<object>`select current_setting(${name}) as ${sql.ref(name)}`)
      return Promise.all(shown.map(async (each) => (await each.execute(query)).rows[0]))
    })
    expect(settings).toEqual([
      { synchronousCommit: 'on' },
      { lockTimeout: '3s' },
      { idleInTransactionSessionTimeout: '5s' },
    ])
  })

  it('tells an instance that its clock differs by more than five seconds', async () => {
    const url = await postgres.createDatabase()
    const clock = { offsetMs: 0, now: () => Date.now() + clock.offsetMs }
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const secretHashKeys = ['an instance key of forty characters, more']
    const { authUrl } = await testService({ storage: url, secretHashKeys, clock })
    const ready = async () => {
      const response = await fetch(`${authUrl}/readyz`)
      return [response.status, await response.json()]
    }
    expect(await ready()).toEqual([200, { status: 'ok' }])
    for (const seconds of [7, -7]) {
      clock.offsetMs = seconds * 1000
      vi.advanceTimersByTime(60_000)
      const status = 'clock differs from the database'
      await expect.poll(ready).toEqual([503, { status, clockOffsetSeconds: seconds }])
    }
    clock.offsetMs = 3_000
    vi.advanceTimersByTime(60_000)
    await expect.poll(ready).toEqual([200, { status: 'ok' }])
  })

  it('serves tokens on the other connections while acts wait for another instance', async () => {
    const url = await postgres.createDatabase()
    const [healthy, frozen] = await Promise.all([openTestPostgres(url), openTestPostgres(url)])
    const { waiting } = await twoClients(url)
    onTestFinished(() => Promise.all([healthy.close(), frozen.close()]).then(() => {}))
    const perform = performOn(healthy)
    let thaw: (() => void) | undefined
    const act = performOn(frozen)(
      { actorType: 'api' },
      () => new Promise<void>((resolve) => (thaw = resolve)),
    )
    await vi.waitUntil(() => thaw)
    const acts = Array.from({ length: 20 }, (_, at) =>
      perform({ actorType: 'person', actorId: String(at) }, async () => at),
    )
    await expect.poll(waiting).toBe(1)
    await Promise.all([healthy.tokens.find('no token'), healthy.probe()])
    expect(await waiting()).toBe(1)
    thaw?.()
    await act
    expect(await Promise.all(acts)).toHaveLength(20)
  })

  it('that becomes read-only is left: a new connection is opened, which may lead to another server', async () => {
    const url = await postgres.createDatabase()
    const storage = await openTestPostgres(url)
    onTestFinished(() => storage.close())
    const name = new URL(url).pathname.slice(1)
    const client = new Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    const own = `pid <> pg_backend_pid() and datname = '${name}' and application_name = 'tokenwell'`
    const connections = async () =>
      (await client.query<{ pid: number }>(`select pid from pg_stat_activity where ${own}`)).rows
    await client.query(`alter database ${name} set default_transaction_read_only = on`)
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${own}`)
    const all = () =>
      Promise.allSettled([storage.probe(), storage.tokens.find('a'), storage.failures.find('b', 1)])
    await expect.poll(async () => (await all()).map(({ status }) => status)).toContain('fulfilled')
    await expect(storage.probe()).rejects.toThrow(/read-only transaction/)
    await client.query('set default_transaction_read_only = off')
    await client.query(`alter database ${name} reset default_transaction_read_only`)
    const before = (await connections()).map(({ pid }) => pid)
    await expect.poll(() => storage.probe().then(() => 'written', String)).toBe('written')
    await expect.poll(async () => (await connections()).some(({ pid }) => before.includes(pid))).toBe(false)
  })

  it.skipIf(pgbouncerIsAbsent)(
    `is used through a pooler in transaction mode (${withoutPgbouncer})`,
    async () => {
      const url = await postgres.createDatabase()
      const pooler = await startPgbouncer(url)
      onTestFinished(() => pooler.stop())
      const storage = await openTestPostgres(pooler.url)
      onTestFinished(() => storage.close())
      const registered = await register(storage)
      const token = tokensOf(registered)
      for (let round = 0; round < 20; round += 1) {
        await Promise.all([
          storage.tokens.save(token(`token ${round}`)),
          storage.tokens.find('nothing'),
          storage.applications.findClient(registered.application.clientId),
          storage.assertions.use(`assertion ${round}`, 1),
          storage.probe(),
          performOn(storage)({ actorType: 'api' }, async ({ query }) => {
            const { rows } = await sql`select current_setting('lock_timeout') as limit`.execute(query)
            expect(rows).toEqual([{ limit: '3s' }])
          }),
        ])
      }
      expect((await storage.tokens.find('token 19'))?.token.hash).toBe('token 19')
    },
  )

  it('that does not exist is named at once, without the password', async () => {
    const url = new URL(await postgres.createDatabase())
    url.pathname = '/nowhere'
    url.password = 'canary'
    const opening = openTestPostgres(url.href)
    await expect(opening).rejects.toThrow(/\/nowhere cannot be used: .*does not exist/)
    await expect(opening).rejects.not.toThrow(/canary/)
  })
})

describe('a PostgreSQL server that cannot be reached', () => {
  it.skipIf(postgresIsAbsent)('is used once it can be, until the storage is closed', async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const url = new URL(await postgres.createDatabase())
    const server = { host: url.hostname, port: Number(url.port) }
    const port = await freePort()
    url.port = String(port)
    const storage = await openTestPostgres(url.href)
    await expect(storage.probe()).rejects.toThrow(/ECONNREFUSED/)
    const reachable = createServer((socket) => socket.pipe(connect(server)).pipe(socket)).listen(
      port,
      '127.0.0.1',
    )
    onTestFinished(() => void reachable.close())
    await storage.opened
    await storage.probe()
    await storage.close()
    await expect(storage.probe()).rejects.toThrow('The storage failed')
  })

  it('is tried again until the storage is closed; until then every call fails with the reason', async () => {
    const reported: string[] = []
    const open = await openPostgres('postgres://someone:canary@127.0.0.1:1/nowhere', {
      ...openTestOptions,
      onError: (error) => reported.push(String(error)),
      prepare: () => expect.unreachable(),
    })
    const storage = createStorage(open)
    await expect(storage.probe()).rejects.toThrow(/127\.0\.0\.1:1\/nowhere cannot be used: .*ECONNREFUSED/)
    await expect(storage.tokens.find('hash')).rejects.toThrow('The storage failed: ')
    await expect.poll(() => reported.length).toBeGreaterThan(1)
    await storage.close()
    expect(reported.join()).not.toContain('canary')
  })
})
