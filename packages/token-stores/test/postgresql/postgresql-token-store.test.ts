import { readFileSync } from 'node:fs'
import { createPostgresqlTokenStore, type PostgresqlClient } from '@tokenwell/token-stores/postgresql'
import { expect, it, onTestFinished, vi } from 'vitest'
import { entryStatements } from '../../src/postgresql/entry-statements.ts'

const client: PostgresqlClient = { query: async () => ({ rows: [] }) }

it.each([
  ['client', { client: undefined as never }],
  ['client', { client: {} as never }],
  ['TypeORM', { client: { query: async () => [], createQueryRunner() {} } as never }],
  ['Prisma', { client: { query: async () => [], $queryRawUnsafe() {} } as never }],
  ['table', { client, table: 'tokens; drop table users' }],
  ['table', { client, table: '' }],
  ['encryptionKeys', { client, encryptionKeys: [] }],
  ['encryptionKeys', { client, encryptionKeys: ['short'] }],
])('rejects an invalid %s', (option, options) => {
  const expected = { kind: 'configuration', message: expect.stringContaining(option) }
  expect(() => createPostgresqlTokenStore(options)).toThrow(expect.objectContaining(expected))
})

it('creates the table only if it is missing, and passes other errors on', async () => {
  const failure = Object.assign(new Error('canary'), { code: '53300' })
  const query = vi.fn(() => Promise.reject(failure))
  await expect(createPostgresqlTokenStore({ client: { query } }).read('key')).rejects.toBeDefined()
  expect(query).toHaveBeenCalledOnce()
})

it.each(['40001', '40P01'])('repeats a statement that another one conflicted with (%s)', async (code) => {
  const rows = [{ now: '1000', token: null, cooldown: null }]
  const query = vi.fn(async () => ({ rows }))
  const conflict = Object.assign(new Error('conflict'), { code })
  query.mockRejectedValueOnce(conflict).mockRejectedValueOnce(conflict)
  const store = createPostgresqlTokenStore({ client: { query } })
  expect(await store.read('key')).toBeUndefined()
  expect(query).toHaveBeenCalledTimes(3)
  query.mockRejectedValue(conflict).mockClear()
  await expect(store.read('key')).rejects.toMatchObject({ code })
  expect(query).toHaveBeenCalledTimes(10)
})

it('tries again after 30 s to create the table, and once for concurrent operations', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const missing = Object.assign(new Error('no table'), { code: '42P01' })
  const query = vi.fn((sql: string) =>
    Promise.reject(sql.includes('create unlogged') ? new Error('denied') : missing),
  )
  const store = createPostgresqlTokenStore({ client: { query } })
  const creations = () => query.mock.calls.filter(([sql]) => sql.includes('create unlogged')).length
  await Promise.allSettled([store.read('a'), store.read('b')])
  expect([creations(), query.mock.calls.length]).toEqual([1, 3])
  vi.advanceTimersByTime(29_999)
  await expect(store.read('a')).rejects.toThrow('denied')
  expect(query).toHaveBeenCalledTimes(3)
  vi.advanceTimersByTime(1)
  await expect(store.read('a')).rejects.toThrow('denied')
  expect([creations(), query.mock.calls.length]).toEqual([2, 5])
})

it.each([
  ['no listener', undefined],
  [
    'a listener that throws',
    (): unknown => {
      throw new Error('error of the listener')
    },
  ],
  ['a listener that rejects', (): unknown => Promise.reject(new Error('error of the listener'))],
])('returns nothing for an unreadable entry with %s', async (_which, onEvent) => {
  const row = { now: '1000', token: 'not an entry', cooldown: null }
  const store = createPostgresqlTokenStore({
    client: { query: async () => ({ rows: [row] }) },
    onEvent,
  })
  expect(await store.read('key')).toBeUndefined()
})

it('quotes the schema and the name of the table', async () => {
  const query = vi.fn(async () => ({ rows: [{ now: '1000', token: null, cooldown: null }] }))
  await createPostgresqlTokenStore({ client: { query }, table: 'auth.Tokens' }).read('key')
  expect(query).toHaveBeenCalledWith(expect.stringContaining('"auth"."Tokens" as entries'), expect.anything())
})

it('creates the table that the documentation shows', () => {
  const page = readFileSync(new URL('../../../../docs/postgresql.md', import.meta.url), 'utf8')
  const [, columns] = /create unlogged table tokenwell_entries (\([^;]+\));/.exec(page)!
  const created = entryStatements('tokenwell_entries').createTable.replaceAll(/\s+/g, ' ')
  expect(created).toContain(`tokenwell_entries ${columns!.replaceAll(/\s+/g, ' ')};`)
})

it('reports a client that returns rows in another form', async () => {
  const store = createPostgresqlTokenStore({ client: { query: async () => [] as never } })
  await expect(store.read('key')).rejects.toMatchObject({ code: 'bad_reply' })
})
