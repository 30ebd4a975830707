import { randomBytes } from 'node:crypto'
import type { TokenProvider } from '@tokenwell/core'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { useTestServers } from '@tokenwell/testing'
import type { Pool } from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'

describe.skipIf(postgresIsAbsent)(`PostgreSQL (${withoutPostgres})`, () => {
  const servers = useTestServers()

  it('runs the example in the README', async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const { tokens, client } = (await runReadmeExample(new URL('../', import.meta.url), {
      AUTH_URL: servers.endpoint.origin,
      CLIENT_ID: 'a-client',
      CLIENT_SECRET: 'a-secret',
      DATABASE_URL: await postgres.createDatabase(),
      TOKEN_KEY: randomBytes(32).toString('base64'),
    })) as { tokens: TokenProvider; client: Pool }
    expect((await tokens.getToken()).value).toBe(servers.endpoint.issued[0])
    await tokens.close()
    await client.end()
  })
})
