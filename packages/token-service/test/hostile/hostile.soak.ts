import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { application, requestToken } from '../test-service.ts'
import { attack } from './hostile-requests.ts'

const table = createSoakTable()

const count = 50_000

it.runIf(process.platform === 'linux')(
  '50,000 hostile requests: no crash, no 5xx, stable memory',
  async () => {
    const settings = {
      applications: [{ ...application, lifetimeSeconds: 1 }],
      failureAttempts: 1e9,
      storage: 'memory',
      logLevel: 'warn',
    }
    const cwd = temporaryFolder({ 'service.json': JSON.stringify({ port: 0, ...settings }) })
    // A small heap fills up soon: further growth would be a leak.
    const env = { NODE_OPTIONS: '--max-old-space-size=64 --max-semi-space-size=2' }
    const service = runCommand(['--config', 'service.json'], { cwd, env })
    const authUrl = await service.authUrl
    const megabytes = () => {
      const status = readFileSync(`/proc/${service.child.pid}/status`, 'utf8')
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024
    }

    const all = new Map<number, number>()
    const memory: number[] = []
    await table.measure('hostile requests', async () => {
      for (let part = 0; part < 10; part += 1) {
        for (const [status, times] of await attack(authUrl, count / 10, part)) {
          all.set(status, (all.get(status) ?? 0) + times)
        }
        memory.push(Math.round(megabytes()))
      }
      const statuses = [...all].map(([status, times]) => `${times} × ${status}`).join(', ')
      const failures = [...all].reduce((sum, [status, times]) => sum + (status >= 500 ? times : 0), 0)
      return { calls: count, failures, figures: `${statuses}; MB after each tenth: ${memory.join(' ')}` }
    })
    expect([...all.keys()].filter((status) => status >= 500)).toEqual([])
    expect((await requestToken(authUrl)).status).toBe(200)
    // The warm-up is over after three tenths.
    expect((memory[9] ?? 0) - (memory[2] ?? 0)).toBeLessThan(40)
  },
)
