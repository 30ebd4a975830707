import { pino } from 'pino'
import { expect, it, vi } from 'vitest'
import { testService, administeredService } from '../test-service.ts'

function recorded() {
  const lines: string[] = []
  const logger = pino({}, { write: (line) => void lines.push(line) })
  return { logger, log: () => lines.join('') }
}

it('reports to administrators that the database cannot be used, and logs it', async () => {
  const { logger, log } = recorded()
  const storage = 'postgres://u:canary@127.0.0.1:1/x'
  const { send } = await administeredService({ storage, secretHashKeys: ['k'.repeat(32)], logger })
  const { status, body } = await send('GET', '/applications')
  expect([status, body.error]).toEqual([503, expect.stringContaining('127.0.0.1:1/x cannot be used')])
  expect(log()).toContain('127.0.0.1:1/x cannot be used')
  expect(log() + body.error).not.toContain('canary')
})

it('logs an unexpected error, and does not return its message to administrators', async () => {
  const { logger, log } = recorded()
  const { send, context } = await administeredService({ logger })
  vi.spyOn(context.storage.developers, 'list').mockRejectedValue(new Error('canary'))
  expect(await send('GET', '/developers')).toMatchObject({
    status: 500,
    body: { error: 'Internal error.' },
  })
  expect(log()).toContain('canary')
})

it('requires an administrator token of 32 characters', async () => {
  const start = (length: number) => testService({ adminPort: 0, adminToken: 'a'.repeat(length) })
  expect((await start(32)).adminUrl).toMatch(/^http:/)
  await expect(start(31)).rejects.toThrow('The setting "adminToken" must have 32 or more characters.')
})

it('serves metrics to administrators only if there are any', async () => {
  const statusOf = async (metrics?: boolean) =>
    (await (await administeredService({ metrics })).send('GET', '/metrics')).status
  expect([await statusOf(), await statusOf(false), await statusOf(true)]).toEqual([404, 404, 200])
})

it('rejects a body that is not JSON', async () => {
  const { adminUrl, token } = await administeredService()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${adminUrl}/applications`, { method: 'POST', headers, body: '{' })
  expect([response.status, response.headers.get('cache-control')]).toEqual([400, 'no-store'])
})
