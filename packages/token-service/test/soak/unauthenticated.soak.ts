import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { temporaryFolder } from '../service-process.ts'
import { application, postForm, serviceWithContext, tokenPath } from '../test-service.ts'

const table = createSoakTable()

const requests = 100_000
const networks = 10_000
const concurrency = 64

it('bounds what 100,000 requests from 10,000 networks leave in the database', async () => {
  const file = join(temporaryFolder(), 'data.db')
  const service = await serviceWithContext({
    storage: `sqlite:${file}`,
    applications: [application],
    trustProxy: 1,
  })
  const { authUrl, context } = service
  const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
  let sent = 0
  async function send(): Promise<void> {
    for (let index = sent++; index < requests; index = sent++) {
      const network = index % networks
      const address = `2001:${(network >> 8).toString(16)}:${(network & 255).toString(16)}::${index.toString(16)}`
      // Half guess the secret of a client, half name clients that do not exist.
      const client_id = index % 2 === 0 ? application.clientId : `unknown-${index}`
      const { status } = await postForm(
        url,
        { client_id, client_secret: `guess ${index}` },
        { 'x-forwarded-for': address },
      )
      expect([401, 429]).toContain(status)
    }
  }
  await table.measure('rejected requests', async () => {
    await Promise.all(Array.from({ length: concurrency }, send))
    await context.activity.flush()
    return { calls: requests, failures: 0 }
  })
  await service.close()
  const sqlite = new DatabaseSync(file)
  const count = (of: string) => Number(sqlite.prepare(`select count(*) as n from ${of}`).get()!['n'])
  const events = count('audit where counted_key is not null')
  const failures = count('failures')
  const rejected = count('token_requests')
  const counted = sqlite.prepare('select sum(count) as n from audit where counted_key is not null').get()![
    'n'
  ]
  sqlite.exec('vacuum')
  sqlite.close()
  const megabytes = statSync(file).size / 1e6
  await table.measure('rows that they leave', async () => ({
    calls: events + failures + rejected,
    failures: 0,
    figures: `${events} counted events, ${failures} failures, ${rejected} rejected requests, ${megabytes.toFixed(1)} MB`,
  }))
  expect(counted).toBe(requests)
  // An hour may end meanwhile.
  expect(events).toBeLessThanOrEqual(2 * 1_001)
  expect(failures).toBeLessThanOrEqual(22_000)
  expect(rejected).toBeLessThanOrEqual(2 * 200 + 60)
  expect(megabytes).toBeLessThan(10)
})
