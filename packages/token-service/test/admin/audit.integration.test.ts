import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AuditManipulated, verifyAudit } from '../../src/admin/verify-audit.ts'
import { createAct } from '../../src/clients/acts.ts'
import { createKeyring } from '../../src/runtime/keyring.ts'
import type { AuditEntry } from '../../src/storage/audit-storage.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { administeredService, application } from '../test-service.ts'
import { openTestSqlite } from '../storage/open-test-storage.ts'

const keys = ['k'.repeat(32), 'o'.repeat(32)]
const acts = 12
const purged = 3

/** A database with a chain whose first entries were deleted after their time, and with counted events. */
async function database() {
  const file = join(temporaryFolder(), 'data.db')
  const time = { now: 0 }
  const open = () => openTestSqlite(file)
  const storage = await open()
  const act = createAct({ storage, keyring: createKeyring(keys), clock: { now: () => time.now } })
  for (; time.now < acts; time.now += 1) {
    const by = { actorType: 'person', actor: 'ada', actorId: 'a', address: '192.0.2.1' } as const
    await act(by, async ({ products }, audit) => {
      await products.add([`product ${time.now}`])
      audit('product_added', { detail: `product ${time.now}`, changes: { name: { to: time.now } } })
    })
  }
  const early = await verifyAudit(storage.audit, createKeyring(keys))
  const counted = { event: 'log_in_failed', atMs: acts, count: 3 }
  await storage.activity.record({ lastUses: [], usage: [], requests: [], events: [counted] })
  expect(await storage.audit.purge(purged, (text) => createKeyring(keys).hash(text))).toBe(purged)
  await storage.close()
  return {
    kept: early.checkpoint!,
    /** Changes the database by hand. */
    manipulate: (...statements: readonly string[]) => {
      const sqlite = new DatabaseSync(file)
      for (const statement of statements) expect(() => sqlite.exec(statement)).not.toThrow()
      sqlite.close()
    },
    verify: async (kept?: typeof early.checkpoint, usedKeys = keys) => {
      const opened = await open()
      try {
        return await verifyAudit(opened.audit, createKeyring(usedKeys), kept)
      } finally {
        await opened.close()
      }
    },
  }
}

const column = (name: string, value: string, sequence = 7) =>
  `update audit set ${name} = ${value} where sequence = ${sequence}`
const copy = (sequence: string, event = 'event', mac = 'mac') =>
  `insert into audit (sequence, at_ms, event, count, key_id, mac)
    select ${sequence}, at_ms, ${event}, count, key_id, ${mac} from audit where sequence = 7`

const manipulations: readonly (readonly [what: string, ...statements: string[]])[] = [
  ['another event', column('event', `'product_removed'`)],
  ['another actor', column('actor', `'grace'`)],
  ['another type of actor', column('actor_type', `'service'`)],
  ['another ID of the actor', column('actor_id', 'null')],
  ['another address', column('address', `'192.0.2.2'`)],
  ['another client', column('client_id', `'billing'`)],
  ['another detail', column('detail', `'product 1'`)],
  ['other values', column('changes', `'{"name":{"to":99}}'`)],
  ['another time', column('at_ms', '1')],
  ['another count', column('count', '2')],
  ['another code', column('mac', `'AAAA'`)],
  ['another key', column('key_id', `'00000000'`)],
  ['an entry removed', 'delete from audit where sequence = 7'],
  ['the first entry removed', `delete from audit where sequence = ${purged + 1}`],
  ['the last entry removed', `delete from audit where sequence = ${acts}`],
  [
    'the last entry removed, and the end set back without the key',
    `delete from audit where sequence = ${acts}`,
    `update audit_checkpoints set sequence = ${acts - 1}, mac =
      (select mac from audit where sequence = ${acts - 1}) where "end" = 'head'`,
  ],
  ['the signed end removed', `delete from audit_checkpoints where "end" = 'head'`],
  ['the signed start removed', `delete from audit_checkpoints where "end" = 'start'`],
  [
    'the start moved without the key',
    `delete from audit where sequence < 7`,
    `update audit_checkpoints set sequence = 6 where "end" = 'start'`,
  ],
  [
    'two entries exchanged',
    column('sequence', '-1'),
    column('sequence', '7', 8),
    `update audit set sequence = 8 where sequence = -1`,
  ],
  ['an entry moved in the list', column('id', '1000')],
  ['an entry added after the end', copy(String(acts + 1))],
  ['an entry added before the start', copy('1')],
  ['an entry added outside the chain', copy('null', `'application_approved'`, 'null')],
  ['an entry moved out of the chain', column('sequence', 'null')],
]

describe('the chain of the audit log', () => {
  it('is verified after a purge, a restart and a change of keys', async () => {
    const { kept, verify } = await database()
    expect(await verify()).toEqual({ entries: acts - purged, checkpoint: kept })
    expect(await verify(kept, ['n'.repeat(32), ...keys])).toMatchObject({ entries: acts - purged })
    await expect(verify(undefined, ['n'.repeat(32)])).rejects.toThrow(AuditManipulated)
    await expect(verify({ ...kept, sequence: 1 })).rejects.toThrow('was not signed by this service')
  })

  it.each(manipulations)('reveals %s', async (_, ...statements) => {
    const { verify, manipulate } = await database()
    manipulate(...statements)
    await expect(verify()).rejects.toThrow(/^The audit log was manipulated\. /)
  })

  it('names what was removed and changed', async () => {
    const { verify, manipulate } = await database()
    manipulate('delete from audit where sequence in (5, 6, 11)', column('actor', `'grace'`, 8))
    await expect(verify()).rejects.toThrow(
      'The audit log was manipulated. Entries 5 to 6 are missing. Entry 8 was changed. Entry 11 is missing.',
    )
  })

  it('reveals an older copy of the whole database to those who kept a checkpoint', async () => {
    const { kept, verify, manipulate } = await database()
    manipulate('delete from audit', 'delete from audit_checkpoints')
    expect(await verify()).toEqual({ entries: 0, checkpoint: undefined })
    await expect(verify(kept)).rejects.toThrow('Entries 1 to 12 are missing.')
  })
})

describe('the audit log', () => {
  async function audited() {
    const service = await administeredService({ applications: [{ ...application, status: 'pending' }] })
    const entries = async (query = ''): Promise<AuditEntry[]> => {
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
    context.keyring.hash = () => {
      throw new Error('no key')
    }
    expect((await send('PUT', '/products/other')).status).toBe(503)
    expect(await context.storage.products.list()).not.toContain('other')
  })

  it('counts wrong administrator tokens', async () => {
    const { adminUrl, entries } = await audited()
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await fetch(`${adminUrl}/products`, { headers: { authorization: 'Bearer wrong' } })
    }
    const [entry] = await entries('?event=administrator_rejected')
    expect(entry).toMatchObject({ count: 3, address: '127.0.0.1' })
    expect(entry).not.toHaveProperty('sequence')
  })

  it('is verified by the command, which the log names with its user', async () => {
    const { adminUrl = '', token, entries } = await audited()
    const env = { TOKENWELL_ADMIN_URL: adminUrl, TOKENWELL_ADMIN_TOKEN: token }
    const run = async (...args: string[]) => runCommand(['admin', ...args], { env }).ended
    await run('add-product', 'billing')
    expect((await entries('?limit=1'))[0]).toMatchObject({ actorType: 'command', actor: expect.any(String) })
    const { code, stdout } = await run('verify-audit')
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { entries: 3, checkpoint: { sequence: 3 } }])
    const folder = temporaryFolder({ 'kept.json': stdout, 'other.json': '[' })
    expect((await run('verify-audit', '--checkpoint', join(folder, 'kept.json'))).code).toBe(0)
    expect(await run('verify-audit', '--checkpoint', join(folder, 'other.json'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('other.json is not what an earlier verification printed.'),
    })
  })
})
