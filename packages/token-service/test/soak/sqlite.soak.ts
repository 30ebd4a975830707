import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, mkdirSync, rmSync, writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { expect, it, onTestFinished } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { backupSqlite, restoreSqlite } from '../../src/storage/backup-sqlite.ts'
import { crashFiles } from '../crash/crash-under-load.ts'
import { temporaryFolder, runCommand } from '../service-process.ts'
import { raceForLock } from '../storage/lock-race.ts'
import { register, token } from '../storage/storage-contract.ts'
import { introspect, requestToken } from '../test-service.ts'
import { issueTokens } from './issue-tokens.ts'
import { openTestSqlite } from '../storage/open-test-storage.ts'

const table = createSoakTable()

it('restores every token that was saved before a backup, which ran under load', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'data.db')
  const storage = await openTestSqlite(file)
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
  const restored = await openTestSqlite(join(folder, 'elsewhere', 'data.db'))
  const found = await Promise.all(before.map((hash) => restored.tokens.find(hash)))
  await restored.close()
  expect(found.filter((each) => each === undefined)).toEqual([])
})

const tokensPerRound = 30_000
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

it('does not grow over five rounds of 30,000 tokens that are issued and purged', async () => {
  const file = join(temporaryFolder(), 'data.db')
  const storage = await openTestSqlite(file)
  const { secrets } = await register(storage)
  const size = () =>
    ['', '-wal'].reduce((sum, end) => sum + (existsSync(file + end) ? statSync(file + end).size : 0), 0)

  const rounds: { full: number; purged: number }[] = []
  for (let round = 1; round <= 5; round += 1) {
    await table.measure(`round ${round}`, async () => {
      await Promise.all(
        Array.from({ length: tokensPerRound }, () => storage.tokens.save(token(secrets[0], round))),
      )
      const full = size()
      expect(await storage.tokens.purge(round)).toBe(tokensPerRound)
      rounds.push({ full, purged: size() })
      const figures = `${megabytes(full)}, ${megabytes(size())} once purged`
      return { calls: tokensPerRound, failures: 0, figures }
    })
  }
  await storage.close()
  const [first, last] = [rounds[0], rounds[4]]
  expect(last?.purged).toBeLessThanOrEqual((first?.purged ?? 0) * 1.3)
  expect(last?.full).toBeLessThanOrEqual((first?.full ?? 0) * 1.3)
})

const mebibyte = 1024 * 1024

it.skipIf(process.getuid?.() !== 0)(
  'responds with 503 while a 64 MiB disk is full, and recovers without a restart (as root)',
  async () => {
    const cwd = temporaryFolder(crashFiles)
    const disk = join(cwd, 'disk')
    mkdirSync(disk)
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk])
    onTestFinished(() => void execFileSync('umount', ['--lazy', disk]))
    const ballast = join(disk, 'ballast')
    writeFileSync(ballast, Buffer.alloc(54 * mebibyte))

    const args = ['--config', 'service.json', '--port', '0', '--storage', 'sqlite:disk/data.db']
    const service = runCommand(args, { cwd })
    const authUrl = await service.authUrl
    const status = async (path: string) => (await fetch(authUrl + path)).status

    const issue = (what: string, ...of: Parameters<typeof issueTokens>) =>
      table.measure(what, async () => {
        const issued = await issueTokens(...of)
        const calls = [...issued.statuses.values()].reduce((sum, count) => sum + count)
        const figures = [...issued.statuses].map(([status, count]) => `${count} × ${status}`).join(', ')
        return { ...issued, calls, figures }
      })
    const before = await issue(
      'token requests until the disk is full',
      authUrl,
      (statuses) => (statuses.get(503) ?? 0) > 100,
    )
    expect(new Set(before.statuses.keys())).toEqual(new Set([200, 503]))
    expect([await status('/healthz'), await status('/readyz')]).toEqual([200, 503])
    const response = await requestToken(authUrl)
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1'])
    for (const token of before.tokens.slice(-100)) {
      expect((await introspect(authUrl, token)).body.active).toBe(true)
    }

    rmSync(ballast)
    expect([await status('/readyz'), (await requestToken(authUrl)).status]).toEqual([200, 200])
    const after = await issue('once it was emptied', authUrl, (_, tokens) => tokens.length >= 5_000)
    expect([...after.statuses.keys()]).toEqual([200])
    for (const token of [...before.tokens.slice(-1_000), ...after.tokens.slice(-1_000)]) {
      expect((await introspect(authUrl, token)).body.active).toBe(true)
    }
  },
)

it('opens a database once in 100 races of three processes for the lock of one that was killed', async () => {
  await table.measure('races of three processes', async () => {
    const pids = await raceForLock(join(temporaryFolder(), 'data.db'), 100)
    return { calls: 100, failures: 0, figures: `${pids.size} processes` }
  })
})

it.skipIf(process.getuid?.() !== 0)(
  'opens a database once in 100 races of processes that are each PID 1 of a namespace (as root)',
  async () => {
    await table.measure('races of processes with PID 1', async () => {
      const pids = await raceForLock(join(temporaryFolder(), 'data.db'), 100, { pidNamespaces: true })
      expect([...pids]).toEqual([1])
      return { calls: 100, failures: 0 }
    })
  },
)

const count = 100

it.skipIf(spawnSync('strace', ['--version']).status !== 0)(
  'syncs the file before it returns a token (needs strace)',
  async () => {
    const cwd = temporaryFolder(crashFiles)
    const args = ['--config', 'service.json', '--port', '0', '--storage', 'sqlite:data.db']
    const service = runCommand(args, { cwd })
    const authUrl = await service.authUrl
    const trace = join(cwd, 'trace')
    const strace = spawn(
      'strace',
      ['-f', '-e', 'trace=fsync,fdatasync', '-o', trace, '-p', String(service.child.pid)],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    )
    await once(strace.stderr, 'data')
    const { syncs } = await table.measure('token requests, one after the other', async () => {
      for (let issued = 0; issued < count; issued += 1) {
        expect((await requestToken(authUrl)).status).toBe(200)
      }
      strace.kill('SIGINT')
      await once(strace, 'close')
      const { length } = readFileSync(trace, 'utf8').match(/\bf(data)?sync\(\d+\) += 0/g) ?? []
      return { syncs: length, calls: count, failures: 0, figures: `${length} syncs` }
    })
    expect(syncs).toBeGreaterThanOrEqual(count)
  },
)
