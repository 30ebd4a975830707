import {
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
  type StatsFs,
} from 'node:fs'
import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  backupStorage,
  openDatabase,
  parseStorageLocation,
  restoreStorage,
} from '../../src/storage/open-database.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { introspect, requestToken, testService } from '../test-service.ts'
import { raceForLock } from './lock-race.ts'
import { register, token } from './storage-contract.ts'
import { createStorage, type Storage } from '../../src/features/context.ts'
import { createPurge } from '../../src/service/purge.ts'
import { openTestOptions, openTestSqlite, performOn } from './open-test-storage.ts'

async function opened(file: string) {
  const storage = await openTestSqlite(file)
  onTestFinished(() => storage.close().catch(() => {}))
  return storage
}

/** Deletes what has expired, as a service does regularly. */
async function purgeNow(storage: Storage): Promise<void> {
  const purge = createPurge({
    storage,
    ...openTestOptions,
    perform: performOn(storage),
    elapsedMs: () => 0,
    warn: expect.unreachable,
    auditRetentionMs: Date.now(),
    usageRetentionMs: 1,
  })
  await purge.run()
}

describe('an SQLite database', () => {
  it('is created in a folder that only its owner may read, and opens again with what it stored', async () => {
    const file = join(temporaryFolder(), 'new', 'data.db')
    const first = await opened(file)
    const { application } = await register(first)
    await first.close()
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(join(file, '..')).toSorted()).toEqual(['data.db', 'data.db.lock'])
    const again = await opened(file)
    expect(await again.applications.findClient(application.clientId)).toMatchObject({ application })
  })

  it('purges without reading whole tables', async () => {
    const file = join(temporaryFolder(), 'data.db')
    await (await openTestSqlite(file)).close()
    const database = new DatabaseSync(file)
    for (const condition of [
      'tokens where expires_at_ms <= 1',
      'used_assertions where expires_at_ms <= 1',
      'failures where resets_at_ms <= 1',
      'usage where hour_ms < 1',
      'last_uses where at_ms < 1',
      'token_requests where at_ms < 1',
      'audit where at_ms < 1',
    ]) {
      const [step] = database.prepare(`explain query plan delete from ${condition}`).all()
      expect(step?.['detail']).toMatch(/^SEARCH/)
    }
    database.close()
  })

  it('is opened once at a time, by any path', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'data.db')
    const first = await opened(file)
    symlinkSync(file, join(folder, 'link.db'))
    await expect(openTestSqlite(file)).rejects.toThrow(/data\.db is in use by another process/)
    await expect(openTestSqlite(join(folder, 'link.db'))).rejects.toThrow(/link\.db is in use/)
    await first.close()
    await opened(file)
  })

  it('is opened by one of three processes that try at the same time, even after a kill', async () => {
    await expect(raceForLock(join(temporaryFolder(), 'data.db'), 2)).resolves.toHaveProperty('size', 4)
  })

  it('has a write-ahead log, and can return free space', async () => {
    const file = join(temporaryFolder(), 'data.db')
    await opened(file)
    const other = new DatabaseSync(file)
    onTestFinished(() => other.close())
    const pragma = (name: string) => Object.values(other.prepare(`pragma ${name}`).get() ?? {})[0]
    expect(pragma('journal_mode')).toBe('wal')
    expect(pragma('auto_vacuum')).toBe(2)
  })

  it('that cannot be written to still finds tokens, and recovers by itself', async () => {
    const file = join(temporaryFolder(), 'data.db')
    const lines: string[] = []
    const logger = pino({ level: 'error' }, { write: (line) => void lines.push(line) })
    const { authUrl } = await testService({ storage: `sqlite:${file}`, logger })
    const status = async (path: string) => (await fetch(authUrl + path)).status
    const { body } = await requestToken(authUrl)
    const other = new DatabaseSync(file)
    other.exec('begin immediate')
    const { status: failed, headers } = await requestToken(authUrl)
    expect([failed, headers.get('retry-after')]).toEqual([503, '1'])
    expect((await introspect(authUrl, body.access_token)).body.active).toBe(true)
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503])
    await Promise.all(Array.from({ length: 20 }, () => requestToken(authUrl)))
    expect(lines).toEqual([
      expect.stringMatching(/"failures":1,"msg":"The storage failed: database is locked"/),
    ])
    other.close()
    expect([await status('/readyz'), (await requestToken(authUrl)).status]).toEqual([200, 200])
  })

  it('that another process locks for a moment is written to afterwards, without blocking this process', async () => {
    const file = join(temporaryFolder(), 'data.db')
    const storage = await opened(file)
    const { secrets } = await register(storage)
    const other = new DatabaseSync(file)
    onTestFinished(() => other.close())
    other.exec('create table of_another_process (value)')
    const perform = performOn(storage)
    const writes = [
      () => storage.tokens.save(token(secrets[0])),
      () => storage.probe(),
      () => perform({ actorType: 'api' }, async (act) => act.audit('clock_confirmed')),
    ]
    for (const write of writes) {
      other.exec('begin immediate; insert into of_another_process values (1)')
      let isLocked = true
      const written = write().then(() => isLocked)
      // Only a process that goes on can release its own lock.
      setTimeout(() => {
        isLocked = false
        other.exec('commit')
      }, 20)
      expect(await written).toBe(false)
    }
    expect(await storage.audit.list(1, { event: 'clock_confirmed' })).toHaveLength(1)
  })

  it('is not ready while the disk has less than 1 MiB of free space', async () => {
    const storage = await opened(join(temporaryFolder(), 'data.db'))
    const statfs = vi.spyOn(fs, 'statfs')
    syncBuiltinESMExports()
    onTestFinished(() => {
      statfs.mockRestore()
      syncBuiltinESMExports()
    })
    const free = (bavail: number) => statfs.mockResolvedValueOnce({ bavail, bsize: 4_096 } as StatsFs)
    free(255)
    await expect(storage.probe()).rejects.toThrow('The storage failed: the disk is full')
    free(256)
    await storage.probe()
  })

  it.each(['', 'AAAA', 'A'.repeat(100)])(
    'with a hash of the wrong length for a secret rejects the credentials: %j',
    async (hash) => {
      const file = join(temporaryFolder(), 'data.db')
      const { authUrl } = await testService({ storage: `sqlite:${file}` })
      expect((await requestToken(authUrl)).status).toBe(200)
      const other = new DatabaseSync(file)
      other.prepare('update secrets set hash = ?').run(hash)
      other.close()
      expect((await requestToken(authUrl)).status).toBe(401)
    },
  )

  it('returns the space of purged tokens to the file system', async () => {
    const file = join(temporaryFolder(), 'data.db')
    const storage = await opened(file)
    const { secrets } = await register(storage)
    const size = () => statSync(file).size + statSync(`${file}-wal`).size
    const before = size()
    await Promise.all(Array.from({ length: 3_000 }, () => storage.tokens.save(token(secrets[0], 1))))
    expect(size()).toBeGreaterThan(before + 400_000)
    await purgeNow(storage)
    expect(statSync(`${file}-wal`).size).toBe(0)
    expect(size()).toBeLessThan(before + 100_000)
  })

  it('that was created by another program keeps the space of purged tokens for new ones', async () => {
    const file = join(temporaryFolder(), 'data.db')
    const other = new DatabaseSync(file)
    other.exec('create table notes (text)')
    other.close()
    const storage = await opened(file)
    const { secrets } = await register(storage)
    const sizes: number[] = []
    for (let time = 0; time < 2; time += 1) {
      await Promise.all(Array.from({ length: 1_000 }, () => storage.tokens.save(token(secrets[0], 1))))
      await purgeNow(storage)
      sizes.push(statSync(file).size)
    }
    expect(sizes[0]).toBeGreaterThan(200_000)
    // Random keys fill the pages of an index more or less well.
    expect(sizes[1]).toBeLessThan(sizes[0]! + 50_000)
  })

  it.each([
    [
      'a folder',
      (path: string) => mkdirSync(path),
      /data is a folder\. SQLite storage requires the path of a file/,
    ],
    [
      'another file',
      (path: string) => writeFileSync(path, 'no database '.repeat(100)),
      /data cannot be used: file is not a database/,
    ],
  ])('is not opened in place of %s', async (_, create, message) => {
    const path = join(temporaryFolder(), 'data')
    create(path)
    await expect(openTestSqlite(path)).rejects.toThrow(message)
  })
})

describe('a backup', () => {
  it('is a copy of everything, taken while tokens are saved, and restores to a new place', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'data.db')
    const storage = await opened(file)
    const { application, secrets } = await register(storage)
    const tokens = Array.from({ length: 2_000 }, () => token(secrets[0]))
    const [before, during] = [tokens.slice(0, 1_000), tokens.slice(1_000)]
    await Promise.all(before.map((each) => storage.tokens.save(each)))
    const saving = Promise.all(during.map((each) => storage.tokens.save(each)))
    const backup = join(folder, 'backup.db')
    await backupStorage({ kind: 'sqlite', file }, backup)
    await saving
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    await expect(backupStorage({ kind: 'sqlite', file }, backup)).rejects.toThrow(/backup\.db already exists/)

    const location = parseStorageLocation(`sqlite:${join(folder, 'elsewhere', 'data.db')}`)
    // Left by a database that was deleted.
    mkdirSync(join(folder, 'elsewhere'))
    const left = ['-wal', '-shm'].map((end) => join(folder, 'elsewhere', `data.db${end}`))
    for (const file of left) writeFileSync(file, 'left')
    await restoreStorage(location, backup)
    expect(left.filter((file) => existsSync(file))).toEqual([])
    const restored = createStorage(await openDatabase(location, openTestOptions))
    onTestFinished(() => restored.close())
    const found = await Promise.all(before.map(({ hash }) => restored.tokens.find(hash)))
    expect(found.every((each) => each?.application.id === application.id)).toBe(true)
    await restored.tokens.save(token(secrets[0]))
  })

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'that is ended by %s leaves nothing behind',
    async (signal) => {
      const cwd = temporaryFolder()
      const database = new DatabaseSync(join(cwd, 'data.db'))
      onTestFinished(() => database.close())
      // The copy waits for this transaction.
      database.exec('create table data (value); begin exclusive')
      const before = readdirSync(cwd).toSorted()
      const { child, ended } = runCommand(['backup', 'copy.db', '--storage', 'sqlite:data.db'], { cwd })
      await expect.poll(() => readdirSync(cwd), { timeout: 20_000 }).toContain('copy.db.unfinished')
      child.kill(signal)
      expect((await ended).code).toBe(null)
      expect(readdirSync(cwd).toSorted()).toEqual(before)
    },
  )

  it('never overwrites a database, and is checked before it is restored', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'data.db')
    const storage = await opened(file)
    const backup = join(folder, 'backup.db')
    await backupStorage({ kind: 'sqlite', file }, backup)
    await expect(restoreStorage({ kind: 'sqlite', file }, backup)).rejects.toThrow(/in use/)
    await storage.close()
    await expect(restoreStorage({ kind: 'sqlite', file }, backup)).rejects.toThrow(
      /data\.db already exists\. Move it before/,
    )
    const elsewhere = { kind: 'sqlite', file: join(folder, 'elsewhere.db') } as const
    writeFileSync(join(folder, 'damaged.db'), 'nothing')
    await expect(restoreStorage(elsewhere, join(folder, 'damaged.db'))).rejects.toThrow(/not a usable backup/)
    await expect(restoreStorage(elsewhere, join(folder, 'missing.db'))).rejects.toThrow(/not a usable backup/)
    expect(existsSync(elsewhere.file)).toBe(false)
  })

  it('is not available for memory storage', async () => {
    await expect(backupStorage({ kind: 'memory' }, 'backup.db')).rejects.toThrow(
      'memory storage has no backup',
    )
    await expect(restoreStorage({ kind: 'memory' }, 'backup.db')).rejects.toThrow(
      'memory storage has no backup',
    )
  })
})
