import { monitorEventLoopDelay } from 'node:perf_hooks'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { restoreSqlite } from '../../src/storage/sqlite/restore-sqlite.ts'
import { temporaryFolder } from '../service-process.ts'
import { register, token } from '../storage/storage-contract.ts'

it('restores every token that was saved before a backup, which ran under load', async () => {
  const folder = temporaryFolder()
  const storage = await openSqlite(join(folder, 'data.db'))
  const { secrets } = await register(storage)
  const save = async () => {
    const each = token(secrets[0])
    await storage.tokens.save(each)
    return each.hash
  }
  const before = await Promise.all(Array.from({ length: 200_000 }, save))

  let during = 0
  const abort = new AbortController()
  const clients = Array.from({ length: 16 }, async () => {
    for (; !abort.signal.aborted; during += 1) await save()
  })
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const started = performance.now()
  await storage.backup(join(folder, 'backup.db'))
  const seconds = (performance.now() - started) / 1000
  delay.disable()
  abort.abort()
  await Promise.all(clients)
  await storage.close()

  await restoreSqlite(join(folder, 'backup.db'), join(folder, 'elsewhere', 'data.db'))
  const restored = await openSqlite(join(folder, 'elsewhere', 'data.db'))
  const found = await Promise.all(before.map((hash) => restored.tokens.find(hash)))
  await restored.close()
  expect(found.filter((each) => each === undefined)).toEqual([])
  process.stdout.write(
    `backup of ${before.length} tokens in ${seconds.toFixed(1)} s, ${during} saved meanwhile; ` +
      `the event loop waited ${(delay.max / 1e6).toFixed(0)} ms at most\n`,
  )
})
