import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { purgeAudit } from '../../src/features/audit/acts.ts'
import type { Storage } from '../../src/features/context.ts'
import type { TokenServiceOptions } from '../../src/service/token-service-options.ts'
import type { StoredAuditEntry } from '../../src/storage/audit-storage.ts'
import { openTestMemory, openTestPostgres, performOn } from '../storage/open-test-storage.ts'
import { runCommand } from '../service-process.ts'
import { administeredService, application } from '../test-service.ts'

const acts = 12
const by = { actorType: 'person', actor: 'ada', actorId: 'a', address: '192.0.2.1' } as const

function describeEntries(open: () => Promise<Storage>): void {
  /** Entry 1 is that of the creation, at the time of the test; the others are of the milliseconds from 1 on, and one is only counted. */
  async function opened() {
    const storage = await open()
    onTestFinished(() => storage.close())
    const time = { now: 1 }
    const perform = performOn(storage, { clock: { now: () => time.now } })
    const act = async () => {
      await perform(by, async ({ audit }) => audit('product_added', { detail: `product ${time.now}` }))
      time.now += 1
    }
    while (time.now <= acts) await act()
    const events = [{ event: 'log_in_failed', atMs: acts, count: 3 }]
    const nothing = { rehashed: [], lastUses: [], usage: [], requests: [] }
    for (let each = 0; each < 2; each += 1) await storage.activity.record({ ...nothing, events })
    const { audit, database } = storage
    return {
      storage,
      time,
      act,
      query: database.query,
      details: async () => (await audit.after(0, 99)).map(({ detail }) => detail),
      purge: (beforeMs: number, nowMs = time.now) =>
        perform({ actorType: 'service' }, (each) => purgeAudit(each, { beforeMs, nowMs })),
    }
  }
  const products = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `product ${from + index}`)

  it.each([
    ['another event', `update audit set event = 'product_removed' where id = 5`],
    ['another actor in all', `update audit set actor = 'grace'`],
    ['an act as a counted event', `update audit set counted_key = 'x' where id = 5`],
    ['an entry removed', 'delete from audit where id = 7'],
    ['the last entry removed', `delete from audit where id = ${acts + 1}`],
    ['all entries removed', 'delete from audit'],
  ])('are not changed in the database: %s', async (_, statement) => {
    const { query, details, purge, time } = await opened()
    await purge(4)
    await expect(sql.raw(statement).execute(query)).rejects.toThrow(
      'The audit log cannot be changed, and its entries are kept until their retention has ended.',
    )
    expect(await details()).toEqual([...products(4, acts), '1 to 4'])
    expect(time.now).toBe(acts + 1)
  })

  it('are deleted from the oldest on once their retention has ended, which is an entry itself', async () => {
    const { purge, details, storage } = await opened()
    await purge(4)
    await purge(4)
    await purge(6)
    expect(await details()).toEqual([...products(6, acts), '1 to 4', '5 to 6'])
    expect((await storage.audit.list(1))[0]).toMatchObject({ event: 'audit_purged', actorType: 'service' })
    expect(await storage.audit.list(9, { event: 'log_in_failed' })).toMatchObject([{ count: 6 }])
    expect(await storage.audit.hasBefore(6)).toBe(false)
    expect(await storage.activity.purgeEvents(acts + 1)).toBe(1)
  })

  it('are kept by the time of what was written before them, if the clock was wrong', async () => {
    const { act, purge, details, time } = await opened()
    const nowMs = time.now
    time.now = 1
    await act()
    time.now = 1_000
    await act()
    time.now = nowMs
    await act()
    await purge(4)
    const rest = [...products(4, acts), 'product 1', 'product 1000', `product ${nowMs}`]
    expect(await details()).toEqual([...rest, '1 to 4'])
    // The entry from the future is as old as what follows it.
    time.now += 10
    await purge(nowMs + 1)
    expect(await details()).toEqual(['1 to 4', expect.stringMatching(/^5 to \d+$/)])
  })

  it('have IDs that are not used again, even after all of them were deleted', async () => {
    const { act, purge, storage, time } = await opened()
    const [before] = await storage.audit.list(1)
    time.now += 10
    await purge(time.now)
    await act()
    const ids = (await storage.audit.after(0, 99)).map(({ id }) => id)
    expect(ids.length).toBe(2)
    expect(Math.min(...ids)).toBeGreaterThan(before!.id)
  })
}

describe('entries of SQLite', () => describeEntries(openTestMemory))

describe.skipIf(postgresIsAbsent)(`entries of PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  describeEntries(async () => openTestPostgres(await postgres.createDatabase()))

  it('are not truncated', async () => {
    const storage = await openTestPostgres(await postgres.createDatabase())
    onTestFinished(() => storage.close())
    await expect(sql`truncate audit`.execute(storage.database.query)).rejects.toThrow('audit log')
  })
})

describe('the audit log', () => {
  async function audited(options: Pick<TokenServiceOptions, 'logger'> = {}) {
    const applications = [{ ...application, status: 'pending' as const }]
    const service = await administeredService({ ...options, applications })
    const entries = async (query = ''): Promise<StoredAuditEntry[]> => {
      const { body } = await service.send('GET', `/audit${query}`)
      return String(body)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    return { ...service, entries }
  }

  it('names who did what, with the old and the new values', async () => {
    const { send, entries } = await audited()
    await send('POST', `/applications/${application.clientId}/approve`)
    const { body: created } = await send('POST', '/resource-servers', { name: 'billing' })
    await send('PATCH', `/resource-servers/${created.clientId}`, { name: 'invoices' })
    expect(await entries()).toMatchObject([
      {
        event: 'resource_server_changed',
        actorType: 'api',
        clientId: created.clientId,
        changes: { name: { from: 'billing', to: 'invoices' } },
      },
      { event: 'resource_server_created', changes: { name: { to: 'billing' } } },
      {
        event: 'application_approved',
        changes: {
          products: { from: [], to: application.products },
          status: { from: 'pending', to: 'approved' },
        },
      },
      { event: 'resource_server_created', actorType: 'service', actor: 'configuration' },
      {
        event: 'application_created',
        actorType: 'service',
        changes: { products: { to: application.products }, status: { to: 'pending' } },
      },
      { event: 'project_created', actorType: 'service', changes: { name: { to: 'default' } } },
      { event: 'database_created', actorType: 'service' },
    ])
  })

  it('keeps every act beside any number of rejections', async () => {
    const { send, entries, context } = await audited()
    for (let index = 0; index < 1_100; index += 1) {
      context.activity.count({ event: 'request_rejected', clientId: String(index) })
    }
    await Promise.all(Array.from({ length: 20 }, (_, index) => send('PUT', `/products/product${index}`)))
    const added = await entries('?event=product_added')
    expect(new Set(added.map(({ detail }) => detail)).size).toBe(20)
    expect((await entries('?event=request_rejected&limit=5000')).length).toBeLessThanOrEqual(1_001)
  })

  it('does nothing without its entry', async () => {
    const { send, context } = await audited()
    await sql`create trigger full before insert on audit begin select raise(abort, 'full'); end`.execute(
      context.database.query,
    )
    expect((await send('PUT', '/products/other')).status).toBe(503)
    expect(await context.storage.products.list()).not.toContainEqual({ name: 'other' })
  })

  it('counts wrong administrator tokens', async () => {
    const { adminUrl, entries } = await audited()
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fetch(`${adminUrl}/products`, { headers: { authorization: 'Bearer wrong' } })
    }
    const [entry] = await entries('?event=administrator_rejected')
    expect(entry).toMatchObject({ count: 3, address: '127.0.0.1' })
  })

  it('is read completely, in pages of acts after an ID', async () => {
    const { send, entries } = await audited()
    for (let each = 0; each < 5; each += 1) await send('PUT', `/products/product${each}`)
    await send('GET', '/unknown')
    const all = await entries('?after=0')
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).toSorted((a, b) => a - b))
    expect(all.slice(-5).map(({ detail }) => detail)).toEqual([0, 1, 2, 3, 4].map((each) => `product${each}`))
    const pages: number[][] = []
    for (let path: string | undefined = '/audit?after=0&limit=4'; path !== undefined;) {
      const { body, headers }: { body: string; headers: Headers } = await send('GET', path)
      pages.push(
        body
          .trim()
          .split('\n')
          .map((line) => (JSON.parse(line) as { id: number }).id),
      )
      path = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(pages.flat()).toEqual(all.map(({ id }) => id))
    expect(pages.length).toBe(Math.ceil(all.length / 4))
    expect(await entries(`?after=${all.at(-2)!.id}`)).toEqual(all.slice(-1))
  })

  it('names the user of the command', async () => {
    const { adminUrl = '', token, entries } = await audited()
    const env = { TOKENWELL_ADMIN_URL: adminUrl, TOKENWELL_ADMIN_TOKEN: token }
    await runCommand(['admin', 'set-product', 'billing'], { env }).ended
    const [entry] = await entries('?limit=1')
    expect(entry).toMatchObject({ actorType: 'command', actor: expect.any(String) })
    const following = runCommand(['admin', 'audit', '--after', String(entry!.id - 1), '--follow'], { env })
    await expect.poll(() => following.output()).toContain('"detail":"billing"')
    await runCommand(['admin', 'set-product', 'payroll'], { env }).ended
    await expect.poll(() => following.output()).toContain('"detail":"payroll"')
    following.child.kill()
    await following.ended
  })

  it('writes a line of the log for each entry once it is committed, without a value', async () => {
    const lines: Record<string, unknown>[] = []
    const logger = pino({}, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const { send, entries } = await audited({ logger })
    lines.length = 0
    const { body } = await send('POST', '/resource-servers', { name: 'a name of an API' })
    await send('PATCH', `/resource-servers/${body.clientId}`, { name: 'Invoices' })
    await send('PATCH', '/resource-servers/unknown', { name: 'x' })
    const [changed, created] = await entries('?limit=2')
    expect(lines.filter(({ msg }) => msg === 'audit')).toMatchObject([
      { auditId: created!.id, event: 'resource_server_created', clientId: body.clientId, changed: ['name'] },
      {
        auditId: changed!.id,
        event: 'resource_server_changed',
        actorType: 'api',
        changed: ['name'],
      },
    ])
    expect(JSON.stringify(lines)).not.toMatch(/a name of an API|Invoices/)
  })
})
