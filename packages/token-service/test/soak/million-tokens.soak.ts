import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { crashFiles } from '../crash/crash-under-load.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { application, introspect } from '../test-service.ts'
import { issueTokens } from './issue-tokens.ts'

const table = createSoakTable()

const limit = 256 * 1024 * 1024
const version1 = '/sys/fs/cgroup/memory'
const isVersion1 = existsSync(join(version1, 'memory.limit_in_bytes'))
const fill = fileURLToPath(new URL('fill-tokens.ts', import.meta.url))

/** A control group with 256 MiB of memory for all its processes, file cache included; returns the command that starts one in it. */
function limitedMemory(): { wrapper: string[]; peak: () => number } {
  const group = join(isVersion1 ? version1 : '/sys/fs/cgroup', `tokenwell-${process.pid}`)
  mkdirSync(group)
  onTestFinished(() => rmdirSync(group))
  writeFileSync(join(group, isVersion1 ? 'memory.limit_in_bytes' : 'memory.max'), String(limit))
  const peak = isVersion1 ? 'memory.max_usage_in_bytes' : 'memory.peak'
  return {
    wrapper: ['sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh'],
    peak: () => Number(readFileSync(join(group, peak), 'utf8')),
  }
}

it.skipIf(process.getuid?.() !== 0)('serves a million tokens in 256 MiB of memory (as root)', async () => {
  const { wrapper, peak } = limitedMemory()
  const cwd = temporaryFolder(crashFiles)
  const args = ['--config', 'service.json', '--port', '0', '--storage', 'sqlite:data.db']
  const first = runCommand(args, { cwd })
  await first.authUrl
  first.child.kill('SIGTERM')
  await first.ended

  const [shell = '', ...inGroup] = wrapper
  const filling = [
    process.execPath,
    '--conditions=@tokenwell/source',
    fill,
    'data.db',
    application.clientId,
    '1000000',
  ]
  await table.measure('tokens saved', async () => {
    execFileSync(shell, [...inGroup, ...filling], { cwd, stdio: 'inherit' })
    const figures = `${(statSync(join(cwd, 'data.db')).size / 1e6).toFixed(0)} MB on disk`
    return { calls: 1_000_000, failures: 0, figures }
  })

  await table.measure('token requests beside them', async () => {
    const service = runCommand(args, { cwd, wrapper })
    const authUrl = await service.authUrl
    const { tokens, statuses } = await issueTokens(authUrl, (_, issued) => issued.length >= 20_000)
    expect([...statuses.keys()]).toEqual([200])
    for (const token of tokens.slice(-500)) expect((await introspect(authUrl, token)).body.active).toBe(true)
    const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8')
    const resident = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024
    const withCache = peak() / 1024 / 1024
    const figures = `${resident.toFixed(0)} MiB resident at most, ${withCache.toFixed(0)} MiB with the file cache`
    return { calls: tokens.length, failures: 0, figures }
  })
})
