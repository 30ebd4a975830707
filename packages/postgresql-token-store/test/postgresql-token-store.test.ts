import { createPostgresqlTokenStore, type PostgresqlClient } from '@tokenwell/postgresql-token-store'
import { expect, it } from 'vitest'

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
