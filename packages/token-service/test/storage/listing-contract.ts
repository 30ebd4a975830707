import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Application } from '../../src/storage/application.ts'
import type { Storage } from '../../src/features/context.ts'

const nowMs = 1_800_000_000_000
const hourMs = nowMs - (nowMs % 3_600_000)

/** A developer with a project of applications, which are separate from those of other tests. */
async function owned(storage: Storage, names: readonly string[], more: Partial<Application> = {}) {
  const ownerId = randomUUID()
  const name = `owner ${ownerId}`
  const hash = randomUUID()
  await storage.developers.invite({ hash, administrator: false, expiresAtMs: nowMs * 2 })
  const developer = { id: ownerId, name, passwordHash: 'x', administrator: false, createdAtMs: 1 }
  expect(await storage.developers.join(developer, hash, nowMs)).toBe(true)
  const project = {
    id: randomUUID(),
    name: `Project ${ownerId}`,
    organizationName: '',
    developerEmail: '',
    createdAtMs: nowMs,
  }
  await storage.projects.create(project)
  await storage.developers.addProject(ownerId, project.id)
  const applications = names.map((each, index) => ({
    id: randomUUID(),
    projectId: project.id,
    name: each,
    clientId: `client-${randomUUID()}`,
    status: 'approved' as const,
    products: ['sms'],
    scopes: ['read', 'write'],
    level: '',
    organizationName: '',
    developerEmail: '',
    responseForm: 'products' as const,
    lifetimeSeconds: 60,
    createdAtMs: nowMs + index,
    revision: 0,
    tokenGeneration: 0,
    keys: [],
    tokenFormat: 'opaque' as const,
    audiences: [],
    dpop: 'allowed' as const,
    claims: {},
    ...more,
  }))
  for (const each of applications) expect(await storage.applications.create(each, [])).toBe(true)
  return { ownerId, ownerName: name, project, applications }
}

export function testListings(open: () => Storage): void {
  describe('lists', () => {
    const listed = async (filter: object) => {
      const { items, total } = await open().listings.applications({ limit: 50, offset: 0, ...filter })
      return [total, ...items.map(({ application }) => application.name)]
    }

    it('applications in pages, by name, of one developer or project', async () => {
      const { ownerId, project } = await owned(open(), ['beta', 'Alpha', 'gamma'])
      expect(await listed({ ownerId })).toEqual([3, 'Alpha', 'beta', 'gamma'])
      expect(await listed({ projectId: project.id, limit: 2 })).toEqual([3, 'Alpha', 'beta'])
      expect(await listed({ ownerId, limit: 2, offset: 2 })).toEqual([3, 'gamma'])
      expect(await listed({ ownerId, limit: 0 })).toEqual([3])
      expect(await listed({ ownerId: 'nobody' })).toEqual([0])
    })

    it('applications that match a search, without patterns', async () => {
      const { ownerId, project, applications } = await owned(open(), ['Billing', 'a_b', '100%'])
      const found = (search: string) => listed({ ownerId, search })
      expect(await found('LLIN')).toEqual([1, 'Billing'])
      expect(await found('_')).toEqual([1, 'a_b'])
      expect(await found('%')).toEqual([1, '100%'])
      expect(await found('\\')).toEqual([0])
      expect(await found(applications[1]!.clientId.slice(0, 20))).toEqual([1, 'a_b'])
      expect((await found(project.name))[0]).toBe(3)
    })

    it('names as people count, and finds them without accents, in every script', async () => {
      const names = ['application 10', 'Application 2', 'Émile batch', 'Straße 9', 'ＦＵＬＬ width', 'ｺｰﾙ']
      const { ownerId } = await owned(open(), names)
      expect(await listed({ ownerId })).toEqual([
        6,
        'Application 2',
        'application 10',
        'Émile batch',
        'ＦＵＬＬ width',
        'Straße 9',
        'ｺｰﾙ',
      ])
      expect((await listed({ ownerId, order: '-name' }))[1]).toBe('ｺｰﾙ')
      for (const [search, name] of [
        ['EMILE', 'Émile batch'],
        ['batch émi', 'Émile batch'],
        ['STRASSE', 'Straße 9'],
        ['full', 'ＦＵＬＬ width'],
        ['コール', 'ｺｰﾙ'],
      ])
        expect(await listed({ ownerId, search })).toEqual([1, name])
      expect(await listed({ ownerId, search: 'emile straße' })).toEqual([0])
    })

    it('applications that an owner, a project or a product leads to', async () => {
      const { ownerId, ownerName, project } = await owned(open(), ['one'], { products: ['speech-to-text'] })
      for (const search of [ownerName, project.name, 'Speech-TO'])
        expect(await listed({ ownerId, search })).toEqual([1, 'one'])
    })

    it('applications by their last use, and those that were never used at the end', async () => {
      const storage = open()
      const { ownerId, applications } = await owned(storage, ['b', 'a', 'recent', 'older', 'latest'])
      const ages = [undefined, undefined, 2, 3, 1]
      const lastUses = applications.flatMap(({ id }, index) => {
        const age = ages[index]
        return age === undefined ? [] : [{ id, atMs: nowMs - age }]
      })
      await storage.activity.record({ rehashed: [], lastUses, usage: [], requests: [], events: [] })
      const all = [5, 'latest', 'recent', 'older', 'a', 'b']
      expect(await listed({ ownerId, order: '-used' })).toEqual(all)
      expect(await listed({ ownerId, order: '-used', limit: 2, offset: 2 })).toEqual([5, 'older', 'a'])
      expect(await listed({ ownerId, order: '-used', limit: 2, offset: 4 })).toEqual([5, 'b'])
      expect(await listed({ ownerId, order: 'used' })).toEqual([5, 'a', 'b', 'older', 'recent', 'latest'])
      expect((await listed({ ownerId, order: '-created' })).slice(1, 3)).toEqual(['latest', 'older'])
    })

    it('how many applications have each status', async () => {
      const storage = open()
      const dayMs = 86_400_000
      const { ownerId, applications } = await owned(storage, ['one', 'two', 'three', 'four', 'five'], {
        createdAtMs: nowMs - 100 * dayMs,
      })
      const [one, two, three, four] = applications.map(({ id }) => id) as [string, string, string, string]
      await storage.applications.update(one, { status: 'pending' })
      await storage.applications.update(two, { requested: { ...applications[1]!, lifetimeSeconds: 9 } })
      await storage.applications.update(three, { deletesAtMs: nowMs })
      const secret = { keyId: 'k', hash: 'h', prefix: 'p', createdAtMs: 1 }
      await storage.secrets.add({ ...secret, id: randomUUID(), ownerId: four, expiresAtMs: nowMs + dayMs })
      const used = {
        rehashed: [],
        lastUses: [{ id: two, atMs: nowMs - dayMs }],
        usage: [],
        requests: [],
        events: [],
      }
      await storage.activity.record(used)
      const counts = await storage.listings.applicationCounts({ ownerId, nowMs })
      expect(counts).toEqual({
        all: 4,
        failing: 0,
        approved: 3,
        pending: 1,
        changes: 1,
        revoked: 0,
        declined: 0,
        expiring: 1,
        unused: 2,
        awaiting: 2,
        deleted: 1,
      })
      for (const [status, number] of Object.entries(counts))
        if (status !== 'all')
          expect([status, (await listed({ ownerId, status, nowMs }))[0]]).toEqual([status, number])
      expect((await storage.listings.applicationCounts({ ownerId, nowMs, search: 'four' })).all).toBe(1)
    })

    it('people by name and role', async () => {
      const storage = open()
      const { ownerName } = await owned(storage, [])
      const [, id = ''] = ownerName.split(' ')
      const people = async (filter: object) => {
        const { items, total } = await storage.listings.people({ limit: 5, offset: 0, search: id, ...filter })
        return [total, ...items.map(({ name }) => name)]
      }
      expect(await people({})).toEqual([1, ownerName])
      expect(await people({ administrator: false })).toEqual([1, ownerName])
      expect(await people({ administrator: true })).toEqual([0])
      expect(await people({ limit: 0 })).toEqual([1])
    })

    it('applications by status; those that are deleted only on request', async () => {
      const storage = open()
      const { ownerId, applications } = await owned(storage, ['one', 'two', 'three', 'four'])
      const [one, two, three] = applications.map(({ id }) => id) as [string, string, string]
      const before = await storage.listings.awaitingCount()
      await storage.applications.update(one, { status: 'pending' })
      await storage.applications.update(two, { requested: { ...applications[1]!, lifetimeSeconds: 9 } })
      await storage.applications.update(three, { deletesAtMs: nowMs })
      expect(await listed({ ownerId })).toEqual([3, 'four', 'one', 'two'])
      expect(await listed({ ownerId, status: 'awaiting' })).toEqual([2, 'one', 'two'])
      expect(await listed({ ownerId, status: 'pending' })).toEqual([1, 'one'])
      expect(await listed({ ownerId, status: 'deleted' })).toEqual([1, 'three'])
      expect(await storage.listings.awaitingCount()).toBe(before + 2)
    })

    it('applications that await a decision, by when it was requested', async () => {
      const storage = open()
      const { ownerId, applications } = await owned(storage, ['one', 'two', 'three', 'four'])
      const [one, two, three] = applications.map(({ id }) => id) as [string, string, string]
      await storage.applications.update(one, { status: 'pending', review: { requestedAtMs: nowMs + 100 } })
      await storage.applications.update(two, { status: 'pending' })
      const requested = { ...applications[2]!, lifetimeSeconds: 9 }
      await storage.applications.update(three, { requested, review: { requestedAtMs: nowMs + 50 } })
      const waiting = (more: object) => listed({ ownerId, status: 'awaiting', order: 'requested', ...more })
      expect(await waiting({})).toEqual([3, 'two', 'three', 'one'])
      expect(await waiting({ limit: 1, offset: 1 })).toEqual([3, 'three'])
      expect(await waiting({ status: 'pending' })).toEqual([2, 'two', 'one'])
      expect(await waiting({ status: 'changes' })).toEqual([1, 'three'])
      await storage.applications.update(one, { review: null })
      expect(await waiting({})).toEqual([3, 'one', 'two', 'three'])
      const review = { requestedAtMs: nowMs + 1_000 }
      const later = await owned(storage, ['later'], { status: 'pending', review })
      await storage.developers.addProject(ownerId, later.project.id)
      expect(await waiting({})).toEqual([4, 'one', 'two', 'three', 'later'])
    })

    it('projects with their applications and owners', async () => {
      const storage = open()
      const { ownerId, ownerName, project } = await owned(storage, ['a', 'b'])
      const filter = { ownerId, limit: 9, offset: 0 }
      expect(await storage.listings.projects(filter)).toEqual({
        items: [{ project, applications: 2 }],
        total: 1,
      })
      expect((await storage.listings.projects({ ...filter, search: 'nothing' })).total).toBe(0)
      expect((await storage.listings.projects({ ...filter, search: project.id.slice(0, 0) })).total).toBe(1)
      expect((await storage.listings.owners([project.id])).get(project.id)).toEqual([ownerName])
      await storage.projects.update(project.id, { deletesAtMs: nowMs })
      expect((await storage.listings.projects(filter)).items).toMatchObject([
        { project: { deletesAtMs: nowMs } },
      ])
      expect(await listed({ ownerId })).toEqual([0])
      expect(await listed({ ownerId, status: 'deleted' })).toEqual([2, 'a', 'b'])
    })

    it('usage, failures and first tokens of one developer', async () => {
      const storage = open()
      const { ownerId, applications } = await owned(storage, ['quiet', 'busy'])
      const [quiet, busy] = applications as [Application, Application]
      expect(await storage.listings.hasToken(ownerId)).toBe(false)
      const entry = { clientId: busy.clientId, hourMs, outcome: 'issued', requests: 5 } as const
      const failed = { ...entry, outcome: 'invalid_client', requests: 2 } as const
      await storage.activity.record({
        rehashed: [],
        lastUses: [{ id: busy.id, atMs: nowMs }],
        usage: [
          entry,
          failed,
          { ...failed, hourMs: hourMs - 3_600_000, requests: 1 },
          { ...entry, clientId: quiet.clientId, requests: 3 },
        ],
        requests: [],
        events: [],
      })
      expect(await storage.listings.hasToken(ownerId)).toBe(true)
      expect(await storage.listings.hasToken()).toBe(true)
      const usage = await storage.listings.usageOf([busy.clientId], hourMs)
      expect(usage).toEqual(expect.arrayContaining([entry, failed]))
      expect(usage).toHaveLength(2)
      const totals = await storage.listings.usageTotals(hourMs, ownerId)
      expect(totals).toEqual(
        expect.arrayContaining([
          { hourMs, outcome: 'issued', requests: 8 },
          { hourMs, outcome: 'invalid_client', requests: 2 },
        ]),
      )
      expect(totals).toHaveLength(2)
      const all = await storage.listings.usageTotals(hourMs)
      expect(all.find(({ outcome }) => outcome === 'invalid_client')?.requests).toBeGreaterThanOrEqual(2)
      const { id, projectId, name } = busy
      expect(await storage.listings.topFailures(0, 5, ownerId)).toEqual([
        { application: { id, projectId, name }, outcome: 'invalid_client', requests: 3 },
      ])
    })

    it('declined applications apart from revoked ones', async () => {
      const storage = open()
      const { ownerId, applications } = await owned(storage, ['refused', 'stopped'], { status: 'revoked' })
      await storage.applications.update(applications[0]!.id, { review: { declined: { revision: 1 } } })
      expect(await listed({ ownerId, status: 'declined' })).toEqual([1, 'refused'])
      expect(await listed({ ownerId, status: 'revoked' })).toEqual([1, 'stopped'])
      expect(await storage.listings.applicationCounts({ ownerId })).toMatchObject({ declined: 1, revoked: 1 })
    })

    it('applications that get no tokens now, with the reason, and most failures first', async () => {
      const storage = open()
      const names = ['broken', 'nightly', 'healthy', 'silent', 'long ago', 'throttled']
      const { ownerId, applications } = await owned(storage, names)
      const minuteMs = nowMs - (nowMs % 60_000)
      const [broken, nightly, healthy, , old, throttled] = applications.map(({ clientId }) => clientId)
      const request = (clientId = '', atMs: number, outcome = 'invalid_client', count = 1) => ({
        usage: { clientId, hourMs: atMs - (atMs % 3_600_000), outcome, requests: count },
        request: { clientId, outcome, address: '::1', minuteMs: atMs - (atMs % 60_000), atMs, count },
      })
      const made = [
        request(broken, minuteMs - 7_200_000, 'issued'),
        request(broken, minuteMs - 3_600_000, 'expired_secret', 2),
        request(broken, minuteMs - 60_000, 'invalid_client', 2),
        request(nightly, minuteMs - 120_000, 'invalid_client', 9),
        request(nightly, minuteMs - 60_000, 'issued'),
        request(healthy, minuteMs, 'issued'),
        request(old, minuteMs - 2 * 86_400_000),
        request(throttled, minuteMs - 120_000),
        request(throttled, minuteMs, 'too_many_failures'),
      ]
      const lastUses = made.flatMap(({ request: { outcome, clientId, atMs } }) =>
        outcome === 'issued'
          ? [{ id: applications.find((each) => each.clientId === clientId)?.id ?? '', atMs }]
          : [],
      )
      await storage.activity.record({
        rehashed: [],
        lastUses,
        usage: made.map(({ usage }) => usage),
        requests: made.map((each) => each.request),
        events: [],
      })
      const failing = { ownerId, status: 'failing', nowMs }
      expect(await listed(failing)).toEqual([2, 'broken', 'throttled'])
      expect((await storage.listings.applicationCounts({ ownerId, nowMs })).failing).toBe(2)
      const order = { ownerId, order: 'failures', nowMs }
      const all = ['nightly', 'broken', 'throttled', 'healthy', 'long ago', 'silent']
      expect(await listed(order)).toEqual([6, ...all])
      expect(await listed({ ...order, limit: 2, offset: 2 })).toEqual([6, ...all.slice(2, 4)])
      expect(await listed({ ...order, limit: 2, offset: 4 })).toEqual([6, ...all.slice(4)])
      const current = await storage.listings.currentFailures(applications.map(({ clientId }) => clientId))
      expect(current.get(broken!)).toEqual({ sinceMs: minuteMs - 3_600_000, outcome: 'invalid_client' })
      expect(current.get(throttled!)).toEqual({ sinceMs: minuteMs - 120_000, outcome: 'invalid_client' })
      expect(current.has(nightly!) || current.has(healthy!)).toBe(false)
    })

    it('the secrets that expire next', async () => {
      const storage = open()
      const { ownerId, applications } = await owned(storage, ['demo'])
      const { id, projectId, name } = applications[0]!
      const owner = { id, projectId, clientId: applications[0]!.clientId, name }
      const secret = { ownerId: id, keyId: 'k', createdAtMs: 1 }
      for (const [prefix, expiresAtMs] of [
        ['late', nowMs + 9],
        ['soon', nowMs + 1],
        ['gone', nowMs],
        ['ever', undefined],
      ] as const)
        await storage.secrets.add({
          ...secret,
          id: randomUUID(),
          hash: randomUUID(),
          prefix,
          expiresAtMs,
        })
      const next = (untilMs: number, limit = 9) =>
        storage.listings.expiringSecrets([nowMs, untilMs], { limit, offset: 0, ownerId })
      expect(await next(nowMs + 9)).toEqual({
        total: 2,
        items: [
          { id: expect.any(String), owner, prefix: 'soon', expiresAtMs: nowMs + 1 },
          { id: expect.any(String), owner, prefix: 'late', expiresAtMs: nowMs + 9 },
        ],
      })
      expect(await next(nowMs + 8)).toMatchObject({ total: 1, items: [{ prefix: 'soon' }] })
      expect(await next(nowMs + 9, 1)).toMatchObject({ total: 2, items: [{ prefix: 'soon' }] })
      await storage.projects.update(projectId, { deletesAtMs: nowMs })
      expect(await next(nowMs + 9)).toEqual({ total: 0, items: [] })
    })

    it('the secrets of resource servers that expire next, with their last use', async () => {
      const storage = open()
      const untilMs = nowMs + Math.ceil(Math.random() * 1e9)
      const id = randomUUID()
      const secret = { id: randomUUID(), ownerId: id, keyId: 'k', hash: randomUUID(), createdAtMs: 1 }
      const server = { id, clientId: id, name: 'API', createdAtMs: 1, keys: [], revision: 0 }
      const secrets = [{ ...secret, prefix: 'abcd', expiresAtMs: untilMs }]
      await storage.resourceServers.create({ ...server, secrets })
      const lastUses = [{ id: secret.id, atMs: nowMs - 1 }]
      await storage.activity.record({ rehashed: [], lastUses, usage: [], requests: [], events: [] })
      const find = (ownerId?: string) =>
        storage.listings.expiringSecrets([untilMs - 1, untilMs], { limit: 9, offset: 0, ownerId })
      const found = { prefix: 'abcd', expiresAtMs: untilMs, lastUsedAtMs: nowMs - 1 }
      expect((await find()).items).toContainEqual({
        id: expect.any(String),
        owner: { id, clientId: id, name: 'API' },
        ...found,
      })
      expect(await find(randomUUID())).toEqual({ items: [], total: 0 })
      const usedSince = (usedSinceMs: number) =>
        storage.listings.expiringSecrets([untilMs - 1, untilMs], { limit: 9, offset: 0, usedSinceMs })
      expect((await usedSince(nowMs - 1)).items).toContainEqual(expect.objectContaining(found))
      expect(await usedSince(nowMs)).toEqual({ items: [], total: 0 })
    })

    it('the audit log by cursor and by groups of events', async () => {
      const storage = open()
      const actor = `actor ${randomUUID()}`
      for (const event of ['a', 'b', 'c'])
        await storage.activity.record({
          rehashed: [],
          lastUses: [],
          usage: [],
          requests: [],
          events: [{ atMs: nowMs, event, actor, count: 1 }],
        })
      const first = await storage.audit.list(2, { actor })
      expect(first.map(({ event }) => event)).toEqual(['c', 'b'])
      const rest = await storage.audit.list(2, { actor }, first[1]!.id)
      expect(rest.map(({ event }) => event)).toEqual(['a'])
      const some = await storage.audit.list(9, { actor, events: ['a', 'c'] })
      expect(some.map(({ event }) => event)).toEqual(['c', 'a'])
    })
  })
}
