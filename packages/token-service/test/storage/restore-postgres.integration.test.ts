import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { introspect, requestToken, serviceWithContext } from '../test-service.ts'
import { fillEveryTable, people } from './fill-every-table.ts'

const secretHashKeys = ['the key of a database that moves to PostgreSQL']

describe.skipIf(postgresIsAbsent)(`a backup of SQLite (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  /** A backup of a database with rows in every table, and a token that it knows. */
  async function backedUp() {
    const cwd = temporaryFolder()
    const service = await serviceWithContext({
      storage: `sqlite:${join(cwd, 'data.db')}`,
      secretHashKeys,
      portal: true,
    })
    const token = (await requestToken(service.authUrl)).body.access_token as string
    await fillEveryTable(service)
    await service.close()
    const backup = join(cwd, 'backup.db')
    expect((await runCommand(['backup', backup, '--storage', 'sqlite:data.db'], { cwd }).ended).code).toBe(0)
    return { token, backup, cwd }
  }

  it('is restored to PostgreSQL with all that it contains', async () => {
    const { token, backup, cwd } = await backedUp()
    const storage = await postgres.createDatabase()
    const restored = await runCommand(['restore', backup, '--storage', storage], {
      cwd,
      env: { TOKENWELL_SECRET_HASH_KEYS: secretHashKeys[0] },
    }).ended
    expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('has been restored')])
    const { authUrl, context } = await serviceWithContext({
      storage,
      secretHashKeys,
      portal: true,
      applications: [],
      resourceServers: [],
    })
    expect((await introspect(authUrl, token)).body).toMatchObject({ active: true })
    expect((await requestToken(authUrl)).status).toBe(200)
    const { audit, developers } = context.storage
    expect((await developers.list()).map(({ name }) => name)).toEqual(people)
    const [latest] = await audit.list(1)
    await context.perform({ actorType: 'api' }, async (act) => act.audit('product_added', { detail: 'new' }))
    expect(await audit.after(latest!.id, 9)).toMatchObject([{ event: 'product_added' }])
    // The triggers of PostgreSQL guard the entries of SQLite, too.
    await expect(context.database.query.deleteFrom('audit').execute()).rejects.toThrow('audit log')

    const again = await runCommand(['restore', backup, '--storage', storage], {
      cwd,
      env: { TOKENWELL_SECRET_HASH_KEYS: secretHashKeys[0] },
    }).ended
    expect([again.code, again.stderr]).toEqual([
      2,
      expect.stringContaining('is not empty. Restore to an empty one.'),
    ])
  })

  it('of another version is rejected', async () => {
    const { backup, cwd } = await backedUp()
    const env = { TOKENWELL_SECRET_HASH_KEYS: secretHashKeys[0] }
    const sqlite = new DatabaseSync(backup)
    sqlite.exec(`update tokenwell_schema set fingerprint = 'other' where number = 1`)
    sqlite.close()
    const storage = await postgres.createDatabase()
    const other = await runCommand(['restore', backup, '--storage', storage], { cwd, env }).ended
    expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('with the fingerprint other')])
  })
})
