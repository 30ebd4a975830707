import { readFileSync } from 'node:fs'
import { createPostgresqlTokenStore, type PostgresqlClient } from '@tokenwell/postgresql-token-store'
import { expect, it, vi } from 'vitest'
import { entryStatements } from '../src/entry-statements.ts'

const client: PostgresqlClient = { query: async () => ({ rows: [] }) }

it.each([
  ['client', { client: undefined as never }],
  ['client', { client: {} as never }],
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

it('creates the table that the documentation shows', () => {
  const page = readFileSync(new URL('../../../docs/postgresql.md', import.meta.url), 'utf8')
  const [, columns] = /create unlogged table tokenwell_entries (\([^;]+\));/.exec(page)!
  const created = entryStatements('tokenwell_entries').createTable.replaceAll(/\s+/g, ' ')
  expect(created).toContain(`tokenwell_entries ${columns!.replaceAll(/\s+/g, ' ')};`)
})
