import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'

const table = createSoakTable()

const script = fileURLToPath(new URL('heap-after-requests.mjs', import.meta.url))

async function heapAfterRequests(version: string, kind: 'plain' | 'tokens'): Promise<number> {
  const command = ['exec', '--yes', `--package=node@${version}`, '--', 'node', '--expose-gc']
  const { stdout } = await promisify(execFile)('npm', [...command, script, kind, '100000'], {
    env: { ...process.env, NODE_OPTIONS: '', npm_config_update_notifier: 'false' },
  })
  return Number(stdout)
}

it.each(['20', '22', '24'])(
  'keeps no more than plain axios after 100,000 failed requests with a shared signal, on Node %s',
  async (version) => {
    await table.measure(`failed requests on Node ${version}`, async () => {
      const plain = await heapAfterRequests(version, 'plain')
      const withTokens = await heapAfterRequests(version, 'tokens')
      expect(withTokens).toBeLessThan(plain + 2_000_000)
      const kilobytes = ((withTokens - plain) / 1000).toFixed(0)
      return { calls: 100_000, figures: `heap ${kilobytes} kB larger than with plain axios` }
    })
  },
)
