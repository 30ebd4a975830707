import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { crashFiles } from '../crash/crash-under-load.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { requestToken } from '../test-service.ts'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

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
