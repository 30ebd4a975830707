import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { postgresIsAbsent, withoutPostgres } from '@tokenwell/internal-testing/postgres'
import { startPostgresServer } from '@tokenwell/internal-testing/private-postgres'
import { introspect, requestToken, testService } from '../test-service.ts'

const table = createSoakTable()

/** A client of a server that a test started. */
async function clientOf(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function readOne(client: Client, expression: string): Promise<unknown> {
  const { rows } = await client.query<{ value: unknown }>(`select ${expression} as value`)
  return rows[0]?.value
}

it.skipIf(postgresIsAbsent)(
  `after a failover to a standby, requests succeed within ten seconds, and no token is lost (${withoutPostgres})`,
  async () => {
    const first = await startPostgresServer()
    onTestFinished(() => first.stop())
    const second = await startPostgresServer(undefined, first.url)
    onTestFinished(() => second.stop())
    // The name of the database: connections that exist stay where they are.
    let primary = new URL(first.url)
    const name = createServer((from) => {
      const to = connect(Number(primary.port), primary.hostname)
      from.pipe(to).pipe(from)
      for (const each of [from, to])
        each.on('error', () => {}).on('close', () => (from.destroy(), to.destroy()))
    }).listen(0, '127.0.0.1')
    await once(name, 'listening')
    onTestFinished(() => void name.close())
    const storage = new URL(first.url)
    storage.port = String((name.address() as AddressInfo).port)
    const { authUrl } = await testService({
      storage: storage.href,
      secretHashKeys: ['a key of the failover of forty characters'],
    })

    const tokens: string[] = []
    const seconds: Record<string, number>[] = []
    const sinceMs = performance.now()
    const end = new AbortController()
    let lastFailureMs = 0
    const traffic = Array.from({ length: 10 }, async () => {
      while (!end.signal.aborted) {
        const { status, body } = await requestToken(authUrl)
        const nowMs = performance.now() - sinceMs
        const second = (seconds[Math.floor(nowMs / 1000)] ??= {})
        second[status] = (second[status] ?? 0) + 1
        if (status === 200) tokens.push(body.access_token)
        else lastFailureMs = nowMs
        await delay(20)
      }
    })
    await delay(3_000)

    const [demoted, promoted] = await Promise.all([clientOf(first.url), clientOf(second.url)])
    await demoted.query('alter system set default_transaction_read_only = on')
    await demoted.query('select pg_reload_conf()')
    await expect.poll(() => readOne(demoted, `current_setting('transaction_read_only')`)).toBe('on')
    // A moment without a write to the first server, all of which the second one has.
    await delay(2_000)
    const written = String(await readOne(demoted, 'pg_current_wal_lsn()'))
    await expect
      .poll(() => readOne(promoted, `pg_last_wal_replay_lsn() >= '${written}'`), { timeout: 20_000 })
      .toBe(true)
    await readOne(promoted, 'pg_promote()')
    primary = new URL(second.url)
    const movedMs = performance.now() - sinceMs
    await delay(15_000)
    end.abort()
    await Promise.all(traffic)

    const healedMs = Math.max(0, lastFailureMs - movedMs)
    await table.measure('requests for 18 s around a failover', async () => {
      for (const token of tokens) expect((await introspect(authUrl, token)).body.active).toBe(true)
      const failures = seconds.reduce((sum, { '503': unavailable = 0 }) => sum + unavailable, 0)
      const failing = seconds.flatMap((each, second) => (each['503'] ? [second] : [])).join(', ')
      const figures = `503 in seconds ${failing}, until ${Math.round(healedMs)} ms after the name has moved; ${tokens.length} tokens active`
      return { calls: tokens.length + failures, failures, figures }
    })
    const statuses = new Set(seconds.flatMap((each) => Object.keys(each)))
    expect([...statuses].toSorted()).toEqual(['200', '503'])
    expect(healedMs).toBeLessThan(10_000)
    const connections = `(select count(*)::int from pg_stat_activity where application_name = 'tokenwell')`
    expect(await readOne(demoted, connections)).toBe(0)
  },
)
