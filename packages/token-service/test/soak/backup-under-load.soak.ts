import { monitorEventLoopDelay } from 'node:perf_hooks'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { backupSqlite } from '../../src/storage/sqlite/backup-sqlite.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { restoreSqlite } from '../../src/storage/sqlite/restore-sqlite.ts'
import { temporaryFolder } from '../service-process.ts'
import { register, token } from '../storage/storage-contract.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

it('restores every token that was saved before a backup, which ran under load', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'data.db')
  const storage = await openSqlite(file)
  const { secrets } = await register(storage)
  const save = async () => {
    const each = token(secrets[0])
    await storage.tokens.save(each)
    return each.hash
  }
  const { hashes: before } = await table.measure('tokens saved', async () => {
    const hashes = await Promise.all(Array.from({ length: 200_000 }, save))
    return { hashes, calls: hashes.length, failures: 0 }
  })

  let during = 0
  const abort = new AbortController()
  const clients = Array.from({ length: 16 }, async () => {
    for (; !abort.signal.aborted; during += 1) await save()
  })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  await table.measure('tokens saved during the backup', async () => {
    await backupSqlite(file, join(folder, 'backup.db'))
    const blockedMs = (delay.max / 1e6).toFixed(0)
    return { calls: during, failures: 0, figures: `the event loop was blocked for ${blockedMs} ms at most` }
  })
  delay.disable()
  abort.abort()
  await Promise.all(clients)
  await storage.close()

  await restoreSqlite(join(folder, 'backup.db'), join(folder, 'elsewhere', 'data.db'))
  const restored = await openSqlite(join(folder, 'elsewhere', 'data.db'))
  const found = await Promise.all(before.map((hash) => restored.tokens.find(hash)))
  await restored.close()
  expect(found.filter((each) => each === undefined)).toEqual([])
})
