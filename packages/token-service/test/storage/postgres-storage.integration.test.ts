import { connect, createServer } from 'node:net'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { digest } from '../../src/runtime/digest.ts'
import { openPostgres } from '../../src/storage/open-postgres.ts'
import { createStorage } from '../../src/features/context.ts'
import { rotateSecret } from '../../src/features/credentials/acts.ts'
import { openTestOptions, openTestPostgres, performOn } from './open-test-storage.ts'
import { register } from './storage-contract.ts'

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
