import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { startTokenService } from '@tokenwell/token-service'
import { temporaryFolder } from './service-process.ts'
import {
  application,
  basic,
  introspect,
  postForm,
  requestToken,
  resourceServer,
  tokenPath,
} from './test-service.ts'

const canary = (name: string) => `canary-${name}-0123456789abcdef`
const secret = { ...application, clientSecret: canary('secret') }
const server = { ...resourceServer, clientSecret: canary('resource-server') }
const key = canary('key-of-thirty-two-characters')

/** Does everything that could get something secret into a log or a database; returns what must not be found there. */
async function exercise(storage: string): Promise<{ secrets: string[]; log: string }> {
  let log = ''
  const logger = pino({ level: 'trace' }, { write: (line) => void (log += line) })
  const service = await startTokenService({
    storage,
    secretHashKeys: [key],
    logger,
    applications: [secret],
    resourceServers: [server],
    metrics: true,
  })
  const { authUrl } = service
  const url = `${authUrl}${tokenPath}`
  const grant = `${url}?grant_type=client_credentials`

  const { body } = await requestToken(authUrl, secret)
  const { body: byBasic } = await postForm(grant, {}, basic(secret))
  await requestToken(authUrl, { ...secret, clientSecret: canary('wrong') })
  await requestToken(authUrl, { ...secret, clientId: canary('as-client-id') })
  await postForm(`${grant}&client_secret=${canary('in-query')}`, {})
  await postForm(`${authUrl}/oauth/${canary('in-path')}`, {})
  await postForm(grant, {}, { authorization: `Bearer ${canary('bearer')}`, cookie: canary('cookie') })
  await postForm(grant, { client_secret: canary('without-id') })
  await postForm(grant, {
    [canary('as-name')]: '1',
    client_id: `\0${canary('malformed')}`,
    client_secret: 'x',
  })
  await introspect(authUrl, canary('introspected'))
  await postForm(`${authUrl}/oauth/introspect`, { token: body.access_token }, basic(server))
  await postForm(`${authUrl}/oauth/revoke`, { token: body.access_token }, basic(secret))
  const metrics = await (await fetch(`${authUrl}/metrics`)).text()
  await service.close()
  return { secrets: ['canary-', body.access_token, byBasic.access_token], log: log + metrics }
}

describe('no secret or token is in clear text', () => {
  it('in logs and in the files of an SQLite database', async () => {
    const folder = join(temporaryFolder(), 'data')
    const { secrets, log } = await exercise(`sqlite:${folder}/tokenwell.db`)
    expect(log).toContain('invalid_client')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => readFileSync(path))
    // The search itself works: it finds public values.
    expect(files.some((file) => file.includes(application.clientId))).toBe(true)
    for (const each of secrets) {
      expect(log).not.toContain(each)
      expect(files.some((file) => file.includes(each))).toBe(false)
    }
  })

  describe.skipIf(postgresIsAbsent)(withoutPostgres, () => {
    let postgres: PostgresCluster
    beforeAll(async () => {
      postgres = await startPostgres()
    })
    afterAll(() => postgres.stop())

    it('in logs and in the tables of PostgreSQL', async () => {
      const url = await postgres.createDatabase()
      const { secrets, log } = await exercise(url)
      const client = new Client({ connectionString: url })
      await client.connect()
      const { rows: tables } = await client.query<{ name: string }>(
        "select table_name as name from information_schema.tables where table_schema = 'public'",
      )
      let dump = ''
      for (const { name } of tables) {
        const { rows } = await client.query(`select * from "${name}"`)
        dump += JSON.stringify(rows)
      }
      await client.end()
      expect(dump).toContain('token_revoked')
      for (const each of secrets) {
        expect(log).not.toContain(each)
        expect(dump).not.toContain(each)
      }
    })
  })
})
