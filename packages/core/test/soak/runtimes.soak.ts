import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { buildCore } from '../package/built-core.ts'
import { startSmokeServer } from '../runtimes/smoke-server.ts'

const table = createSoakTable()

/** Everything comes from npm, and only when this runs. */
const runtimes: [name: string, packages: string, command: string[]][] = [
  ['Node 20.19', 'node@20.19.0', ['node']],
  ['Node 22', 'node@22', ['node']],
  ['Node 24', 'node@24', ['node']],
  ['Node 26', 'node@26', ['node']],
  ['Deno', 'deno@2', ['deno', 'run', '--allow-net=127.0.0.1', '--allow-read']],
  ['Bun', 'bun@1', ['bun', 'run']],
]

describe('the published file passes the smoke test in', () => {
  it.each(runtimes)('%s', async (name, packages, command) => {
    const { chunks, file } = await buildCore()
    const origin = await startSmokeServer(chunks)
    const folder = await mkdtemp(join(tmpdir(), 'runtime-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    for (const script of ['smoke.mjs', 'run-smoke.mjs']) {
      await copyFile(fileURLToPath(new URL(`../runtimes/${script}`, import.meta.url)), join(folder, script))
    }
    const run = ['exec', '--yes', `--package=${packages}`, '--', ...command]
    const options = {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: '', npm_config_update_notifier: 'false' },
    }
    await table.measure(`the smoke test in ${name}`, async () => {
      const { stdout } = await promisify(execFile)(
        'npm',
        [...run, join(folder, 'run-smoke.mjs'), file, origin],
        options,
      )
      const version = await promisify(execFile)('npm', [...run.slice(0, 5), '--version'], options)
      expect(JSON.parse(stdout)).toHaveLength(12)
      return { calls: 12, failures: 0, figures: version.stdout.trim().split('\n')[0] }
    })
  })
})
