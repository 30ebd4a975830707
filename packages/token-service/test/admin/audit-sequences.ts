import { type Selectable, sql } from 'kysely'
import { expect } from 'vitest'
import { createRandom } from '@tokenwell/internal-testing/random'
import { AuditKeyMissing, AuditManipulated, verifyAudit } from '../../src/features/audit/acts.ts'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { countedEvents } from '../../src/storage/activity-storage.ts'
import { auditStorage, type Checkpoint } from '../../src/storage/audit-storage.ts'
import { migrate } from '../../src/storage/migrate.ts'
import type { Schema } from '../../src/storage/schema.ts'
import { inTransaction, type Database, type Query } from '../../src/storage/database.ts'
import { performOn } from '../storage/open-test-storage.ts'

interface State {
  readonly audit: readonly Selectable<Schema['audit']>[]
  readonly auditCheckpoints: readonly Selectable<Schema['auditCheckpoints']>[]
  readonly purgedAuditCodes: readonly Selectable<Schema['purgedAuditCodes']>[]
}

type Table = keyof State
const tables = ['audit', 'auditCheckpoints', 'purgedAuditCodes'] as const

/** An entry as the service wrote it. */
interface Written {
  readonly text: string
  /** The code of the entry before it. */
  readonly previousMac: string
}

export interface SequencesReport {
  readonly sequences: number
  readonly steps: number
  /** How often a verification had to find something, and did. */
  readonly found: number
  /** How often it had to pass, and did. */
  readonly passed: number
}

/**
 * Somebody who can write to the database, but has no key, and the service take turns at random. After each step, the log passes its
 * verification if and only if it is a state that the service once signed; with a checkpoint that was kept, if and only if that state also
 * continues the one of the checkpoint.
 */
export async function runSequences(
  database: Database,
  { seed, sequences }: { readonly seed: number; readonly sequences: number },
): Promise<SequencesReport> {
  const report = { sequences, steps: 0, found: 0, passed: 0 }
  await migrate(database, { keyring: createKeyring(keys), clock: { now: () => 0 } })
  for (let index = 0; index < sequences; index += 1) {
    const random = createRandom(seed + index)
    const log = await startLog(database, random)
    const steps: string[] = []
    for (let step = 3 + Math.floor(random() * 12); step > 0; step -= 1) {
      steps.push(await log.step())
      report.steps += 1
      for (const isFound of await log.check(`seed ${seed + index}: ${steps.join(', ')}`))
        report[isFound ? 'found' : 'passed'] += 1
    }
  }
  return report
}

const keys = ['k'.repeat(32)]
const dayMs = 86_400_000

async function startLog(database: Database, random: () => number) {
  const { query } = database
  const keyring = createKeyring(keys)
  const audit = auditStorage(database)
  let nowMs = 100 * dayMs
  const perform = performOn({ database }, { keyring, clock: { now: () => nowMs } })
  const between = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const pick = <Item>(items: readonly Item[]): Item => items[between(0, items.length - 1)]!

  /** What the service has written, by its code, and has signed, as text. */
  const written = new Map<string, Written>()
  const heads = new Set<string>()
  /** With the codes of the deleted entries that it covers. */
  const starts = new Map<string, string>()
  const saved: State[] = []
  let kept: Checkpoint | undefined

  const read = async (): Promise<State> => ({
    audit: await query.selectFrom('audit').selectAll().orderBy('id').execute(),
    auditCheckpoints: await query.selectFrom('auditCheckpoints').selectAll().orderBy('end').execute(),
    purgedAuditCodes: await query.selectFrom('purgedAuditCodes').selectAll().orderBy('sequence').execute(),
  })

  async function write(query: Query, state: State, which: readonly Table[] = tables): Promise<void> {
    for (const table of which) {
      await query.deleteFrom(table).execute()
      const rows = state[table]
      if (rows.length === 0) continue
      if (table !== 'audit')
        await query
          .insertInto(table)
          .values(rows as never)
          .execute()
      for (const row of table === 'audit' ? state.audit : []) {
        const overriding = database.kind === 'postgres' ? sql`overriding system value` : sql``
        const columns = sql.join(Object.keys(row).map((name) => sql.ref(name)))
        await sql`insert into audit (${columns}) ${overriding} values (${sql.join(Object.values(row))})`.execute(
          query,
        )
      }
    }
    if (database.kind !== 'postgres') return
    await sql`select setval(pg_get_serial_sequence('audit', 'id'), greatest(1, (select max(id) from audit)))`.execute(
      query,
    )
  }

  const textOf = ({ id: _id, ...row }: State['audit'][number]) => JSON.stringify(row)
  const chainOf = ({ audit: rows }: State) =>
    rows
      .flatMap((row) =>
        row.sequence === null ? [] : [{ ...row, sequence: row.sequence, mac: row.mac ?? '' }],
      )
      .toSorted((a, b) => a.sequence - b.sequence)
  const endOf = ({ auditCheckpoints }: State, wanted: 'start' | 'head') =>
    auditCheckpoints.find(({ end }) => end === wanted)

  /** Lets the service do something, and notes what it has written. */
  async function byService(work: () => Promise<unknown>): Promise<void> {
    const before = await read()
    await work()
    const after = await read()
    const [head, start] = [endOf(after, 'head'), endOf(after, 'start')]
    const isChanged = (end: 'start' | 'head') =>
      JSON.stringify(endOf(after, end)) !== JSON.stringify(endOf(before, end))
    // SQLite gives the ID of the newest row again after it was deleted.
    const old = new Set(before.audit.map(textOf))
    let previousMac = endOf(before, 'head')?.mac ?? ''
    for (const row of chainOf(after).filter((each) => !old.has(textOf(each)))) {
      if (row.event === 'audit_interrupted') previousMac = ''
      written.set(row.mac, { text: textOf(row), previousMac })
      previousMac = row.mac
    }
    if (head && isChanged('head')) heads.add(JSON.stringify(head))
    if (!start || !isChanged('start')) return
    const previous = endOf(before, 'start')
    const covered = JSON.parse(starts.get(JSON.stringify(previous)) ?? '[]') as unknown[]
    const added = after.purgedAuditCodes.filter(({ sequence }) => sequence > (previous?.sequence ?? 0))
    starts.set(JSON.stringify(start), JSON.stringify([...covered, ...added]))
  }

  /** Whether the log is what the service wrote, from the end to the start that it signed, and nothing else. */
  function isAsWritten(state: State): boolean {
    const [head, start] = [endOf(state, 'head'), endOf(state, 'start')]
    const chain = chainOf(state)
    const codes = start ? starts.get(JSON.stringify(start)) : '[]'
    const ids = chain.map(({ id }) => id)
    let last: { readonly sequence: number; readonly mac: string } = start ?? { sequence: 0, mac: '' }
    for (const row of chain) {
      const entry = written.get(row.mac)
      const follows = entry?.previousMac === last.mac && row.sequence === last.sequence + 1
      if (!entry || !follows || entry.text !== textOf(row) || row.event === 'audit_interrupted') return false
      last = row
    }
    return (
      head !== undefined &&
      heads.has(JSON.stringify(head)) &&
      head.sequence === last.sequence &&
      head.mac === last.mac &&
      codes === JSON.stringify(state.purgedAuditCodes) &&
      ids.every((id, index) => index === 0 || id > ids[index - 1]!) &&
      state.audit.every(
        ({ sequence, event }) => sequence !== null || (countedEvents as readonly string[]).includes(event),
      )
    )
  }

  const covers = (state: State, { sequence, mac }: Checkpoint) =>
    [...state.purgedAuditCodes, ...chainOf(state)].some((row) => row.sequence === sequence && row.mac === mac)

  const act = () =>
    byService(async () => {
      nowMs += between(0, dayMs / 4)
      await perform({ actorType: 'person', actor: pick(['ada', 'grace']) }, async ({ audit: record }) => {
        for (let count = between(1, 3); count > 0; count -= 1)
          record(pick(['product_added', 'secret_rotated']), { clientId: pick([undefined, 'a']), detail: 'x' })
      })
    })
  const purge = () =>
    byService(() => audit.purge({ beforeMs: nowMs - between(0, 2) * dayMs, nowMs }, keyring))

  const chained = async () => chainOf(await read())
  const update = (row: { readonly id: number }, changes: object) =>
    query.updateTable('audit').set(changes).where('id', '=', row.id).execute()
  const values = {
    atMs: () => pick([1, nowMs, nowMs + dayMs]),
    event: () => pick(['product_removed', 'audit_interrupted', 'log_in_failed']),
    actorType: () => pick(['service', null]),
    actor: () => pick(['grace', 'eve', null]),
    actorId: () => pick(['e', null]),
    clientId: () => pick(['b', null]),
    address: () => '192.0.2.9',
    detail: () => pick(['y', null]),
    changes: () => pick(['{"name":{"to":1}}', '{', null]),
    count: () => 2,
    keyId: () => '00000000',
    mac: () => pick(['AAAA', null]),
    sequence: () => null,
  } as const

  /** What somebody without a key can do. */
  const attacks: Readonly<Record<string, () => Promise<unknown>>> = {
    async delete() {
      const rows = await chained()
      if (rows.length > 0) await query.deleteFrom('audit').where('id', '=', pick(rows).id).execute()
    },
    async change() {
      const rows = await chained()
      const name = pick(Object.keys(values) as (keyof typeof values)[])
      if (rows.length > 0) await update(pick(rows), { [name]: values[name]() })
    },
    async insert() {
      const rows = await chained()
      if (rows.length === 0) return
      const { id: _id, ...row } = pick(rows)
      const last = Math.max(...rows.map(({ sequence }) => sequence))
      const sequence = pick([null, 0, 1, last + 1, last + 2])
      if (sequence !== null && rows.some((each) => each.sequence === sequence)) return
      await query
        .insertInto('audit')
        .values({ ...row, sequence })
        .execute()
    },
    async reorder() {
      const rows = await chained()
      if (rows.length < 2) return
      const [one, other] = [pick(rows), pick(rows)]
      await update(one, { sequence: -1 })
      await update(other, { sequence: one.sequence })
      if (one !== other) await update(one, { sequence: other.sequence })
    },
    async truncate() {
      const rows = await chained()
      const from = rows.length === 0 ? 0 : pick(rows).sequence
      const newest = random() < 0.5
      await query
        .deleteFrom('audit')
        .where('sequence', newest ? '>=' : '<=', from)
        .execute()
    },
    async 're-point'() {
      const rows = await chained()
      const { sequence, mac } =
        rows.length === 0 ? { sequence: 0, mac: '' } : pick([pick(rows), rows.at(-1)!])
      await query
        .updateTable('auditCheckpoints')
        .set({ sequence, mac: mac ?? '' })
        .where('end', '=', pick(['head', 'head', 'start']))
        .execute()
    },
    async empty() {
      for (const table of pick([
        tables,
        ['audit', 'auditCheckpoints'],
        ['auditCheckpoints'],
        ['purgedAuditCodes'],
      ] as const))
        await query.deleteFrom(table).execute()
    },
    async 'change codes'() {
      const { purgedAuditCodes: rows } = await read()
      const sequence = rows.length === 0 ? 1 : pick(rows).sequence
      if (rows.length > 0 && random() < 0.5)
        await query
          .updateTable('purgedAuditCodes')
          .set({ mac: 'AAAA' })
          .where('sequence', '=', sequence)
          .execute()
      else {
        const added = { sequence: sequence + 1_000, mac: 'AAAA' }
        await query
          .insertInto('purgedAuditCodes')
          .values(added)
          .onConflict((conflict) => conflict.doNothing())
          .execute()
      }
    },
    'put back': () =>
      inTransaction(query, (transaction) =>
        write(
          transaction,
          pick(saved),
          pick([tables, tables, ['audit'], ['auditCheckpoints'], ['purgedAuditCodes']] as const),
        ),
      ),
  }

  await write(query, { audit: [], auditCheckpoints: [], purgedAuditCodes: [] })
  await byService(() => audit.append([{ event: 'database_created', atMs: nowMs, count: 1 }], keyring, true))
  for (let count = between(0, 6); count > 0; count -= 1) await act()
  if (random() < 0.5) await purge()
  saved.push(await read())

  const service = { act, purge }
  return {
    async step(): Promise<string> {
      const chance = random()
      if (chance < 0.1) {
        saved.push(await read())
        return 'save'
      }
      if (chance < 0.2) {
        if (!isAsWritten(await read())) return 'nothing'
        kept = (await verifyAudit(audit, keyring)).checkpoint
        return 'keep'
      }
      const [name, work] = pick(Object.entries(chance < 0.5 ? service : attacks))
      await work()
      return name
    },
    /** Whether each verification found something, as it had to or not. */
    async check(what: string): Promise<boolean[]> {
      const state = await read()
      const isRight = isAsWritten(state)
      const all = [
        [undefined, isRight] as const,
        ...(kept ? [[kept, isRight && covers(state, kept)] as const] : []),
      ]
      const found: boolean[] = []
      for (const [checkpoint, passes] of all) {
        const error = await verifyAudit(audit, keyring, checkpoint).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        if (passes) expect(error, what).toBeUndefined()
        else expect(isFinding(error), `${what}: ${String(error)}`).toBe(true)
        found.push(error !== undefined)
      }
      return found
    },
  }
}

/** Somebody may also have changed the ID of the key in an entry. */
function isFinding(error: unknown): boolean {
  return error instanceof AuditManipulated || error instanceof AuditKeyMissing
}
