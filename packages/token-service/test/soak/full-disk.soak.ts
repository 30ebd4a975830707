import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { crashFiles } from '../crash/crash-under-load.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { introspect, requestToken } from '../test-service.ts'
import { issueTokens } from './issue-tokens.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

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
