import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { postgresIsAbsent, startPostgres, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { temporaryFolder } from '../service-process.ts'
import { useCheapPasswords } from '../portal/portal-browser.ts'
import { administeredService } from '../test-service.ts'
import {
  exercise,
  listInEveryOrder,
  scansInPostgres,
  scansInSqlite,
  sortsInPostgres,
  sortsInSqlite,
} from './large-database.ts'

useCheapPasswords()

describe('each query of the endpoints, the portal and the admin API finds and sorts rows of large tables by an index', () => {
  it('in SQLite', async () => {
    const file = join(temporaryFolder(), 'data.db')
    const service = await administeredService({ storage: `sqlite:${file}` })
    const { statements } = await exercise(service)
    const lists = await listInEveryOrder(service.context.storage)
    await service.close()
    expect(lists.length).toBeGreaterThan(10)
    expect(sortsInSqlite(file, lists)).toEqual([])
    const sort = { text: 'select id from applications order by level limit 5', values: [] }
    expect(sortsInSqlite(file, [sort])).toHaveLength(1)
    expect(scansInSqlite(file, statements)).toEqual([])
    const scan = { text: 'select * from tokens where generation = ?', values: [] }
    expect(scansInSqlite(file, [scan])).toHaveLength(1)
  })

  it.skipIf(postgresIsAbsent)(`in PostgreSQL (${withoutPostgres})`, async () => {
    const postgres = await startPostgres()
    onTestFinished(() => postgres.stop())
    const storage = await postgres.createDatabase()
    const service = await administeredService({ storage, secretHashKeys: ['k'.repeat(32)] })
    const { statements } = await exercise(service)
    const lists = await listInEveryOrder(service.context.storage)
    await service.close()
    expect(await sortsInPostgres(storage, lists)).toEqual([])
    const sort = { text: 'select id from applications order by level limit 5', values: [] }
    expect(await sortsInPostgres(storage, [sort])).toHaveLength(1)
    expect(await scansInPostgres(storage, statements)).toEqual([])
    const scan = { text: 'select * from tokens where generation = $1', values: [1] }
    expect(await scansInPostgres(storage, [scan])).toHaveLength(1)
  })
})
