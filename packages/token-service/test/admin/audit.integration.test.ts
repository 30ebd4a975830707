import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { type AuditManipulated, verifyAudit } from '../../src/features/audit/acts.ts'
import { catalogueStorage } from '../../src/features/catalogue/storage.ts'
import { createKeyring } from '../../src/runtime/keyring.ts'
import type { AuditEntry, Checkpoint } from '../../src/storage/audit-storage.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { administeredService, application } from '../test-service.ts'
import { openSqlite } from '../../src/storage/open-sqlite.ts'
import { createStorage, type Storage } from '../../src/features/context.ts'
import { performOn } from '../storage/open-test-storage.ts'

const keys = ['k'.repeat(32), 'o'.repeat(32)]
/** Of the entries, one is about the creation of the database and one about the purge. */
const acts = 12
const purged = 3
const last = acts + 2

/** A database with a chain whose first entries were deleted after their time, and with counted events. */
async function database() {
  const file = join(temporaryFolder(), 'data.db')
  const time = { now: 0 }
  const clock = { now: () => time.now }
  const keyring = createKeyring(keys)
  const open = () => openSqlite(file, { keyring, clock }).then(createStorage)
  const warnings: string[] = []
  let copies = 0
  const perform = async (storage: Storage) => {
    const run = performOn(storage, { keyring, clock, warn: (message) => void warnings.push(message) })
    const by = { actorType: 'person', actor: 'ada', actorId: 'a', address: '192.0.2.1' } as const
    await run(by, async (act) => {
      await catalogueStorage(act, 'products').add([`product ${time.now}`])
      act.audit('product_added', { detail: `product ${time.now}`, changes: { name: { to: time.now } } })
    })
    time.now += 1
  }
  const storage = await open()
  for (time.now = 1; time.now <= acts;) await perform(storage)
  const early = await verifyAudit(storage.audit, keyring)
  const counted = { event: 'log_in_failed', atMs: acts, count: 3 }
  await storage.activity.record({ rehashed: [], lastUses: [], usage: [], requests: [], events: [counted] })
  expect(await storage.audit.purge({ beforeMs: purged, nowMs: time.now }, keyring)).toBe(purged)
  const late = await verifyAudit(storage.audit, keyring)
  await storage.close()
  const opened = async <Result>(work: (storage: Storage) => Promise<Result>) => {
    const again = await open()
    try {
      return await work(again)
    } finally {
      await again.close()
    }
  }
  return {
    /** The first one is from before the purge. */
    early: early.checkpoint,
    late: late.checkpoint,
    warnings,
    time,
    /** Copies the whole database. */
    save: () => {
      copies += 1
      copyFileSync(file, `${file}.${copies}`)
      return `${file}.${copies}`
    },
    putBack: (copy: string) => copyFileSync(copy, file),
    /** Changes the database by hand. */
    manipulate: (...statements: readonly string[]) => {
      const sqlite = new DatabaseSync(file)
      for (const statement of statements) expect(() => sqlite.exec(statement)).not.toThrow()
      sqlite.close()
    },
    verify: (kept?: Checkpoint, usedKeys = keys) =>
      opened(({ audit }) => verifyAudit(audit, createKeyring(usedKeys), kept)),
    act: () => opened(perform),
    purge: (beforeMs: number, nowMs = time.now) =>
      opened(({ audit }) => audit.purge({ beforeMs, nowMs }, keyring)),
    entries: () => opened(({ audit }) => audit.list(99)),
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
  ['an entry removed', 'delete from audit where sequence = 7'],
  ['the first entry removed', `delete from audit where sequence = ${purged + 1}`],
  ['the last entry removed', `delete from audit where sequence = ${last}`],
  [
    'the last entry removed, and the end set back without the key',
    `delete from audit where sequence = ${last}`,
    `update audit_checkpoints set sequence = ${last - 1}, mac =
      (select mac from audit where sequence = ${last - 1}) where "end" = 'head'`,
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
  ['an entry added after the end', copy(String(last + 1))],
  ['an entry added before the start', copy('1')],
  ['an entry added outside the chain', copy('null', `'application_approved'`, 'null')],
  ['an entry moved out of the chain', column('sequence', 'null')],
  ['the code of a deleted entry changed', `update purged_audit_codes set mac = 'AAAA' where sequence = 2`],
  ['the code of a deleted entry removed', `delete from purged_audit_codes where sequence = 2`],
  ['the code of a deleted entry added', `insert into purged_audit_codes values (99, 'AAAA')`],
  [
    'everything removed',
    `delete from audit`,
    `delete from audit_checkpoints`,
    `delete from purged_audit_codes`,
  ],
]

describe('the chain of the audit log', () => {
  it('is verified after a purge, a restart and a change of keys', async () => {
    const { early, late, verify } = await database()
    expect(await verify()).toEqual({ entries: last - purged, checkpoint: late })
    for (const kept of [early, late])
      expect(await verify(kept, ['n'.repeat(32), ...keys])).toMatchObject({ entries: last - purged })
    const [id] = createKeyring(keys).keyIds
    await expect(verify(undefined, ['n'.repeat(32)])).rejects.toThrow(
      `A part of the audit log could not be checked. The key "${id}" is missing in secretHashKeys, so entries ${purged + 1} to ${last}, the signed start, and the signed end could not be checked.`,
    )
    await expect(verify({ ...early, sequence: 1 })).rejects.toThrow('was not signed by this service')
  })

  it.each(manipulations)(
    'reveals %s, also after the next act and the next purge',
    async (_, ...statements) => {
      const { verify, manipulate, act, purge } = await database()
      manipulate(...statements)
      await expect(verify()).rejects.toThrow(/^The audit log was manipulated\. /)
      await act()
      await expect(verify()).rejects.toThrow(/^The audit log was manipulated\. /)
      await purge(purged + 2)
      await expect(verify()).rejects.toThrow(/^The audit log was manipulated\. /)
    },
  )

  it('says which key is missing that an entry names, instead of a manipulation', async () => {
    const { verify, manipulate, act, purge } = await database()
    manipulate(column('key_id', `'00000000'`))
    const problem =
      /^A part of the audit log could not be checked. The key "00000000" is missing in secretHashKeys, so entry 7 could not be checked.$/
    await expect(verify()).rejects.toThrow(problem)
    await act()
    await purge(purged + 5)
    await expect(verify()).rejects.toThrow(problem)
    manipulate('delete from audit where sequence = 9')
    await expect(verify()).rejects.toThrow(
      /^The audit log was manipulated. Entry 9 is missing. .* "00000000"/,
    )
  })

  it('names what was removed and changed', async () => {
    const { verify, manipulate } = await database()
    manipulate('delete from audit where sequence in (5, 6, 11)', column('actor', `'grace'`, 8))
    await expect(verify()).rejects.toThrow(
      'The audit log was manipulated. Entries 5 to 6 are missing. Entry 8 was changed. Entry 11 is missing.',
    )
  })

  it.each([
    ['removed', `delete from audit_checkpoints where "end" = 'head'`, 'the signed end was removed'],
    [
      'changed',
      `update audit_checkpoints set sequence = 9 where "end" = 'head'`,
      'the signed end was changed',
    ],
    ['passed', copy('99'), `entries after ${last} were added`],
    [
      'signed with another key',
      `update audit_checkpoints set key_id = '00000000'`,
      'the end was signed with the key "00000000", which is not configured',
    ],
  ])('begins anew, with a warning, once its end was %s', async (_, statement, problem) => {
    const { manipulate, act, entries, warnings, verify } = await database()
    manipulate(statement)
    await act()
    await act()
    const [, added, broken] = await entries()
    expect(broken).toMatchObject({ event: 'audit_interrupted', actorType: 'service', detail: problem })
    expect(added).toMatchObject({ event: 'product_added' })
    expect(warnings).toEqual([
      `The audit log begins anew, because ${problem}. \`tokenwell-service admin verify-audit\` tells more.`,
    ])
    const error = await verify().catch((thrown: unknown) => thrown as AuditManipulated)
    expect(error).toMatchObject({
      message: expect.stringContaining(`Before entry ${broken!.sequence}, ${problem}.`),
      checkpoint: { sequence: broken!.sequence! + 2 },
    })
  })

  it('reveals an older state of itself to those who kept a checkpoint, even after its entries were deleted', async () => {
    const { save, putBack, act, purge, verify, time } = await database()
    const older = save()
    for (let count = 0; count < 5; count += 1) await act()
    const { checkpoint: kept } = await verify()
    expect(await verify(kept)).toMatchObject({ checkpoint: kept })
    putBack(older)
    expect(await verify()).toMatchObject({ entries: last - purged })
    await expect(verify(kept)).rejects.toThrow(`Entries ${last + 1} to ${last + 5} are missing.`)
    for (let count = 0; count < 8; count += 1) await act()
    const different = `Entry ${kept.sequence} is not the one of the checkpoint.`
    await expect(verify(kept)).rejects.toThrow(different)
    expect(await purge(time.now)).toBe(last - purged + 8)
    expect(await verify()).toMatchObject({ entries: 1 })
    await expect(verify(kept)).rejects.toThrow(different)
  })

  it('loses nothing to a purge because of a time that was changed', async () => {
    const { manipulate, purge, entries, verify } = await database()
    manipulate(`update audit set at_ms = 0 where sequence = ${last}`)
    expect(await purge(purged)).toBe(0)
    expect(await entries()).toHaveLength(last - purged + 1)
    await expect(verify()).rejects.toThrow(`Entry ${last} was changed.`)
  })

  it('keeps entries of a clock that was ahead until what follows is old enough', async () => {
    const { act, purge, entries, time } = await database()
    const nowMs = time.now
    time.now = 1_000
    await act()
    expect(await purge(nowMs, nowMs)).toBe(acts + 1 - purged)
    expect(await entries()).toMatchObject([
      { event: 'audit_purged' },
      { atMs: 1_000 },
      { event: 'audit_purged' },
      // Outside the chain, with a separate retention.
      { event: 'log_in_failed' },
    ])
    time.now = nowMs
    await act()
    expect(await purge(nowMs + 1, nowMs + 1)).toBe(4)
  })

  it('records each purge with what it deleted', async () => {
    const { purge, entries } = await database()
    expect(await purge(6)).toBe(3)
    expect(await entries()).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ event: 'audit_purged', actorType: 'service', detail: '4 to 6' }),
        expect.objectContaining({ event: 'audit_purged', detail: '1 to 3' }),
      ]),
    )
    expect(await purge(6)).toBe(0)
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
    context.keyring.hash = () => {
      throw new Error('no key')
    }
    expect((await send('PUT', '/products/other')).status).toBe(500)
    expect(await context.storage.products.list()).not.toContainEqual({ name: 'other' })
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
    await run('set-product', 'billing')
    expect((await entries('?limit=1'))[0]).toMatchObject({ actorType: 'command', actor: expect.any(String) })
    const { code, stdout } = await run('verify-audit')
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { entries: 5, checkpoint: { sequence: 5 } }])
    const folder = temporaryFolder({ 'kept.json': stdout, 'other.json': '[' })
    expect((await run('verify-audit', '--checkpoint', join(folder, 'kept.json'))).code).toBe(0)
    expect(await run('verify-audit', '--checkpoint', join(folder, 'other.json'))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('other.json does not contain a JSON object with "checkpoint".'),
    })
  })
})
