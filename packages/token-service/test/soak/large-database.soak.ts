import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { temporaryFolder } from '../service-process.ts'
import { useCheapPasswords } from '../portal/portal-browser.ts'
import { fillStatements, scansInPostgres, scansInSqlite, exercise } from '../storage/large-database.ts'
import { administeredService, requestToken } from '../test-service.ts'

useCheapPasswords()

// 10,000 projects, 100,000 applications and 10 million rows of usage.
const size = { projects: 10_000, applications: 10, usage: 100 }
const requests = 3_000
const concurrency = 16

const fillSqlite = `
const { DatabaseSync } = require('node:sqlite')
const sqlite = new DatabaseSync(process.argv[1])
sqlite.exec('pragma busy_timeout = 60000')
for (const text of JSON.parse(require('node:fs').readFileSync(0, 'utf8'))) sqlite.exec(text)`

const table = createSoakTable()

interface Plan {
  readonly storage: string
  readonly fill: (statements: readonly string[]) => Promise<void>
}

/** Measures token requests, fills the database, and measures them and the pages again; returns the statements. */
async function compare(name: string, { storage, fill }: Plan) {
  const service = await administeredService({ storage, secretHashKeys: ['k'.repeat(32)] })
  const { statements, openPages } = await exercise(service)
  const measure = async (what: string) => {
    for (let warming = 0; warming < 500; warming += 1) await requestToken(service.authUrl)
    await table.measure(`${name}, ${what}`, async () => {
      let left = requests
      const request = async () => {
        while (left-- > 0) expect((await requestToken(service.authUrl)).status).toBe(200)
      }
      await Promise.all(Array.from({ length: concurrency }, request))
      return { calls: requests, failures: 0 }
    })
  }
  await measure('token requests with one application')
  await fill(fillStatements(size))
  await measure('token requests with 100,000 applications')
  await table.measure(`${name}, the pages of an administrator`, async () => {
    const [page, ms] = await openPages()
    return { calls: 1, failures: 0, figures: `slowest: ${page}, ${Math.round(ms)} ms` }
  })
  await service.close()
  return statements
}

it('uses indexes in a large SQLite database, and serves tokens as fast as in a small one', async () => {
  const file = join(temporaryFolder(), 'data.db')
  const statements = await compare('SQLite', {
    storage: `sqlite:${file}`,
    async fill(texts) {
      // In another process, so that the service keeps its connections.
      const child = spawn(process.execPath, ['--eval', fillSqlite, file], {
        stdio: ['pipe', 'inherit', 'inherit'],
      })
      child.stdin.end(JSON.stringify(texts))
      expect(await once(child, 'close')).toEqual([0, null])
    },
  })
  expect(scansInSqlite(file, statements)).toEqual([])
})

it.skipIf(postgresIsAbsent)(
  `uses indexes in a large PostgreSQL database, and serves tokens as fast as in a small one (${withoutPostgres})`,
  async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const storage = await postgres.createDatabase()
    const statements = await compare('PostgreSQL', {
      storage,
      async fill(texts) {
        const client = new Client({ connectionString: storage })
        await client.connect()
        for (const text of texts) await client.query(text)
        await client.end()
      },
    })
    expect(await scansInPostgres(storage, statements)).toEqual([])
  },
)
