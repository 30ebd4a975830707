import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { postgresIsAbsent, startPostgres } from '@tokenwell/internal-testing/postgres'
import { redisInstalled, startRedis } from '@tokenwell/internal-testing/redis'
import { json, startScriptedServer } from '@tokenwell/internal-testing'
import { createPostgresqlTokenStore } from '@tokenwell/token-stores/postgresql'
import { Pool } from 'pg'
import { expect, it, onTestFinished } from 'vitest'

const folder = fileURLToPath(new URL('..', import.meta.url))
const withRedis = `
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { createClient } from 'redis'
const client = createClient({ url: process.env.STORE })
await client.connect()
const store = createRedisTokenStore({ client })`
const withPostgres = `
import { createPostgresqlTokenStore } from '@tokenwell/token-stores/postgresql'
import { Pool } from 'pg'
const client = new Pool({ connectionString: process.env.STORE, allowExitOnIdle: true })
await client.query('select') // connects
const store = createPostgresqlTokenStore({ client })`
const withFile = `
import { createFileTokenStore } from '@tokenwell/token-stores/file'
const store = createFileTokenStore({ folder: process.env.STORE })`
const options =
  '{ ...credentials, store, onEvent: ({ type, cause }) => type === "store_unavailable" && console.error(cause) }'

it.each([
  [
    'Redis',
    'after close()',
    `${withRedis}
const tokens = clientCredentials(${options})
await tokens.getToken()
await tokens.close()
client.destroy()`,
  ],
  [
    'Redis',
    'with await using',
    `${withRedis}
{
  await using tokens = clientCredentials(${options})
  await tokens.getToken()
}
process.exit()`,
  ],
  [
    'PostgreSQL',
    'after close()',
    `${withPostgres}
const tokens = clientCredentials(${options})
await tokens.getToken()
await tokens.close()
process.exit()`,
  ],
  [
    'PostgreSQL',
    'that end by themselves',
    `${withPostgres}
await clientCredentials(${options}).getToken()`,
  ],
  [
    'a file',
    'after close()',
    `${withFile}
const tokens = clientCredentials(${options})
await tokens.getToken()
await tokens.close()
process.exit()`,
  ],
  [
    'a file',
    'that end by themselves',
    `${withFile}
await clientCredentials(${options}).getToken()`,
  ],
] as const)('three short programs share one token through %s, %s', async (name, _how, program) => {
  const server = await startScriptedServer(() => json({ access_token: 'token', expires_in: 3600 }))
  onTestFinished(() => server.close())
  const STORE = await startStore(name)
  if (STORE === undefined) return
  const code = `import { clientCredentials } from '@tokenwell/core'
const credentials = { tokenEndpoint: process.env.URL, clientId: 'id', clientSecret: 'secret' }
${program}`
  for (let run = 0; run < 3; run++) {
    const args = ['--conditions=@tokenwell/source', '--input-type=module', '-e', code]
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, STORE, URL: `${server.origin}/token` },
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    expect([...(await once(child, 'close')), stderr]).toEqual([0, null, ''])
  }
  expect(server.requests).toHaveLength(1)
})

async function startStore(name: 'Redis' | 'PostgreSQL' | 'a file'): Promise<string | undefined> {
  if (name === 'a file') {
    const created = mkdtempSync(join(tmpdir(), 'tokenwell-'))
    onTestFinished(() => rmSync(created, { recursive: true }))
    return created
  }
  if (name === 'Redis') {
    if (!redisInstalled) return undefined
    const redis = await startRedis()
    onTestFinished(() => redis[Symbol.asyncDispose]())
    return redis.url
  }
  if (postgresIsAbsent) return undefined
  const postgres = await startPostgres()
  onTestFinished(() => postgres.stop())
  const url = await postgres.createDatabase()
  const client = new Pool({ connectionString: url })
  // Creates the table.
  await createPostgresqlTokenStore({ client }).read('')
  await client.end()
  return url
}
