import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AccessToken, TokenProvider } from '@tokenwell/core'
import { postgresIsAbsent, startPostgres } from '@tokenwell/internal-testing/postgres'
import { runReadmeExample } from '@tokenwell/internal-testing/readme-example'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { useTestServers } from '@tokenwell/internal-testing/vitest'
import type { Pool } from 'pg'
import type { RedisClientType } from 'redis'
import { expect, it, onTestFinished } from 'vitest'

const servers = useTestServers()

const run = (example: number, environment: Record<string, string>) =>
  runReadmeExample(
    new URL('../', import.meta.url),
    {
      AUTH_URL: servers.endpoint.origin,
      CLIENT_ID: 'a-client',
      CLIENT_SECRET: 'a-secret',
      TOKEN_KEY: randomBytes(32).toString('base64'),
      ...environment,
    },
    example,
  )

it.skipIf(!redisInstalled)('runs the example for Redis in the README', async () => {
  const redis = await startRedis()
  onTestFinished(() => redis[Symbol.asyncDispose]())
  const { tokens, client } = (await run(0, { REDIS_URL: redis.url })) as {
    tokens: TokenProvider
    client: RedisClientType
  }
  // A client that is destroyed while it connects reports an error.
  await expect.poll(() => client.isReady).toBe(true)
  expect((await tokens.getToken()).value).toBe(servers.endpoint.issued[0])
  await tokens.close()
  client.destroy()
})

it.skipIf(postgresIsAbsent)('runs the example for PostgreSQL in the README', async () => {
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const { tokens, client } = (await run(1, { DATABASE_URL: await postgres.createDatabase() })) as {
    tokens: TokenProvider
    client: Pool
  }
  expect((await tokens.getToken()).value).toBe(servers.endpoint.issued[0])
  await tokens.close()
  await client.end()
})

it('shares the token of the example for files in the README between two runs', async () => {
  const state = mkdtempSync(join(tmpdir(), 'tokenwell-files-'))
  onTestFinished(() => rmSync(state, { recursive: true }))
  const { token: first } = await run(2, { XDG_STATE_HOME: state })
  const { token: second } = await run(2, { XDG_STATE_HOME: state })
  expect((second as AccessToken).value).toBe((first as AccessToken).value)
  expect(servers.endpoint.issued).toStrictEqual([(first as AccessToken).value])
})

it('runs the example for authors of stores in the README', async () => {
  const { entry } = await run(3, {})
  expect(entry).toMatchObject({ id: 'a', response: { accessToken: 'token' } })
})
