import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditEntry, AuditFilter } from '../../src/storage/audit-storage.ts'
import type { Application, Project, StoredSecret } from '../../src/storage/application.ts'
import { secretsByKey } from '../../src/storage/hash-keys.ts'
import type { Storage } from '../../src/features/context.ts'
import type { StoredToken } from '../../src/oauth/token-storage.ts'
import { testAdministration, testDevelopers } from './developer-contract.ts'
import { testListings } from './listing-contract.ts'

const createdAtMs = 1_700_000_000_000

function project(): Project {
  const id = randomUUID()
  return { id, name: `a ${id}`, organizationName: 'b', developerEmail: 'c@example.com', createdAtMs }
}

function application(projectId: string): Application {
  return {
    id: randomUUID(),
    projectId,
    name: 'demo "quoted" {a,b}',
    clientId: randomUUID(),
    status: 'approved',
    products: ['speech to text', 'a"b', '{x}'],
    scopes: ['read', 'write'],
    level: 'gold',
    organizationName: 'Approved',
    developerEmail: 'approved@example.com',
    responseForm: 'refresh',
    lifetimeSeconds: 60,
    createdAtMs,
    revision: 0,
    tokenGeneration: 0,
    keys: [],
    tokenFormat: 'jwt',
    audiences: ['https://api.example.com/a,b', '{"x"}'],
    dpop: 'required',
    claims: { 'a"b': [1, null, { c: true }] },
  }
}

function secret(ownerId: string, more: Partial<StoredSecret> = {}): StoredSecret {
  const id = randomUUID()
  return { id, ownerId, keyId: 'k', hash: `hash of ${id}`, prefix: 'abcd', createdAtMs, ...more }
}

/** Creates an application in a separate project. */
export async function register(storage: Storage, secretCount = 1) {
  const its = project()
  const one = application(its.id)
  const secrets = Array.from({ length: secretCount }, (_, index) =>
    secret(one.id, { createdAtMs: createdAtMs + index }),
  )
  await storage.projects.create(its)
  expect(await storage.applications.create(one, secrets)).toBe(true)
  return { project: its, application: one, secrets }
}

export function token(secret: StoredSecret | undefined, expiresAtMs = createdAtMs + 1000): StoredToken {
  const { id: secretId, ownerId: applicationId } = secret ?? { id: '', ownerId: '' }
  const products = ['speech to text', 'a"b']
  return {
    hash: randomUUID(),
    applicationId,
    secretId,
    generation: 0,
    products,
    scopes: ['read', 'write'],
    audiences: ['https://api.example.com', 'b'],
    keyThumbprint: 'a thumbprint',
    issuedAtMs: createdAtMs,
    expiresAtMs,
  }
}

/** The tests that every storage passes. */
export function describeStorage(name: string, open: () => Promise<Storage>): void {
  describe(name, () => {
    let storage: Storage
    beforeAll(async () => {
      storage = await open()
    })
    afterAll(() => storage.close())

    const registered = (secrets?: number) => register(storage, secrets)

    async function find(clientId: string) {
      const found = await storage.applications.findClient(clientId)
      if (!found) throw new Error('There is no such client.')
      return found
    }

    it('opens, and can be written to', async () => {
      await storage.opened
      await Promise.all([storage.probe(), storage.probe()])
    })

    it('finds a client with its project and every one of its secrets', async () => {
      const { project: its, application: one, secrets } = await registered(3)
      const found = await find(one.clientId)
      expect(found.application).toEqual(one)
      expect(found.project).toEqual(its)
      expect(found.secrets.map(({ hash }) => hash).sort()).toEqual(secrets.map(({ hash }) => hash).sort())
    })

    it('finds the right client for each of many concurrent calls', async () => {
      const clients = await Promise.all(Array.from({ length: 20 }, () => registered()))
      const clientIds = [...clients, ...clients].map(({ application: { clientId } }) => clientId)
      const found = await Promise.all(clientIds.map((clientId) => storage.applications.findClient(clientId)))
      expect(found.map((client) => client?.application.clientId)).toEqual(clientIds)
    })

    it('returns the clients of all projects in pages', async () => {
      const created = await Promise.all(Array.from({ length: 20 }, () => registered()))
      const listed: string[] = []
      for (let after: string | undefined; ;) {
        const page = await storage.applications.page(3, after)
        listed.push(...page.map(({ application: { clientId } }) => clientId))
        after = listed.at(-1)
        if (page.length < 3) break
      }
      expect(new Set(listed).size).toBe(listed.length)
      expect(listed).toEqual(expect.arrayContaining(created.map(({ application: { clientId } }) => clientId)))
    })

    it('finds no client by an unknown ID, a part of an ID or a pattern', async () => {
      const { application: one } = await registered()
      for (const clientId of ['', '%', one.clientId.slice(1), `${one.clientId} `, "' or true --", '{}']) {
        expect(await storage.applications.findClient(clientId)).toBeUndefined()
      }
    })

    it('registers a client ID once, even for concurrent calls', async () => {
      const { project: its, application: one, secrets } = await registered()
      const others = Array.from({ length: 5 }, () => ({ ...application(its.id), clientId: one.clientId }))
      const created = others.map((other) => storage.applications.create(other, [secret(other.id)]))
      expect(await Promise.all(created)).toEqual([false, false, false, false, false])
      expect((await find(one.clientId)).secrets).toMatchObject(secrets.map(({ hash }) => ({ hash })))
    })

    it('creates a project once, and changes it', async () => {
      const { project: its, application: one } = await registered()
      expect(await storage.projects.create({ ...its, name: randomUUID() })).toBe(false)
      expect((await find(one.clientId)).project.name).toBe(its.name)
      await storage.projects.update(its.id, { organizationName: 'changed' })
      expect((await find(one.clientId)).project).toEqual({ ...its, organizationName: 'changed' })
      expect(await storage.projects.list()).toContainEqual({ ...its, organizationName: 'changed' })
    })

    it('finds a project by a name that no other one has, in any case and width', async () => {
      const { project: its } = await registered()
      const named = { ...its, name: ` Ｓｐｅｅｃｈ  ÜBER ${its.id}` }
      await storage.projects.update(its.id, { name: named.name })
      for (const name of [named.name, `speech über ${its.id.toUpperCase()} `])
        expect(await storage.projects.findByName(name)).toEqual(named)
      const other = { ...project(), name: `SPEECH über ${its.id}` }
      expect(await storage.projects.create(other)).toBe(false)
      const created = await Promise.all(
        [1, 2, 3].map(() => storage.projects.create({ ...project(), name: other.id })),
      )
      expect(created.filter(Boolean)).toHaveLength(1)
      expect(await storage.projects.findByName(its.name)).toBeUndefined()
    })

    it('lists only the applications of a project', async () => {
      const { project: its, application: one, secrets } = await registered(2)
      await registered()
      const listed = await storage.applications.list(its.id)
      expect(listed).toHaveLength(1)
      expect(listed[0]?.application.id).toBe(one.id)
      expect(listed[0]?.secrets.map(({ id }) => id)).toEqual(secrets.map(({ id }) => id))
    })

    it('shows changes of an application at once', async () => {
      const { application: one } = await registered()
      await storage.applications.update(one.id, { status: 'revoked', products: [], lifetimeSeconds: 5 })
      expect((await find(one.clientId)).application).toEqual({
        ...one,
        status: 'revoked',
        products: [],
        lifetimeSeconds: 5,
        revision: 1,
      })
    })

    it('changes an application only at the given revision', async () => {
      const { application: one } = await registered()
      const stated = { name: 'n', level: 'l', organizationName: 'o', developerEmail: 'e' }
      const tokens = { tokenFormat: 'jwt' as const, audiences: ['a'], dpop: 'none' as const }
      const requested = { ...stated, ...tokens, products: ['x'], scopes: ['read'], lifetimeSeconds: 7 }
      expect(await storage.applications.update(one.id, { requested }, 0)).toBe(true)
      expect(await storage.applications.update(one.id, { products: ['y'] }, 0)).toBe(false)
      expect((await find(one.clientId)).application).toEqual({ ...one, requested, revision: 1 })
      expect(await storage.applications.update(one.id, { requested: null }, 1)).toBe(true)
      expect((await find(one.clientId)).application).toEqual({ ...one, revision: 2 })
    })

    it('changes the audiences and claims of an application', async () => {
      const { application: one } = await registered()
      const changes = { tokenFormat: 'opaque', audiences: ['b'], claims: { tenant: 'a' } } as const
      await storage.applications.update(one.id, changes)
      expect((await find(one.clientId)).application).toEqual({ ...one, ...changes, revision: 1 })
      await storage.applications.update(one.id, { tokenFormat: 'jwt', lifetimeSeconds: 1_000_000 })
      expect(await storage.signingKeys.longestJwtLifetimeSeconds()).toBe(1_000_000)
    })

    it('keeps trusted issuers, and finds no tokens of one that was removed', async () => {
      const issuer = {
        id: randomUUID(),
        issuer: `https://${randomUUID()}.example.com`,
        jwks: { keys: [{ kty: 'EC', kid: 'a"b' }] },
        audiences: ['a"b,c'],
        detectReplay: true,
        rules: [{ clientId: 'a', claims: { 'kubernetes.io': { namespace: '{x}' }, run: 1, main: true } }],
        configured: false,
        createdAtMs,
      }
      expect(await storage.trustedIssuers.create(issuer)).toBe(true)
      expect(await storage.trustedIssuers.create({ ...issuer, id: randomUUID() })).toBe(false)
      expect(await storage.trustedIssuers.find(issuer.issuer)).toEqual(issuer)
      const changed = { ...issuer, jwksUrl: 'https://example.com/jwks', detectReplay: false, rules: [] }
      await storage.trustedIssuers.replace(changed)
      expect(await storage.trustedIssuers.list()).toContainEqual(changed)
      const { secrets } = await registered()
      const issued = { ...token(secrets[0]), secretId: issuer.id }
      await storage.tokens.save(issued)
      expect((await storage.tokens.find(issued.hash))?.token).toEqual(issued)
      await storage.trustedIssuers.remove(issuer.id)
      expect(await storage.tokens.find(issued.hash)).toBeUndefined()
      expect(await storage.trustedIssuers.find(issuer.issuer)).toBeUndefined()
    })

    it('keeps signing keys until they expire', async () => {
      const key = { algorithm: 'ES256', publicKey: '{}', encryptedKey: 'e', createdAtMs }
      await storage.signingKeys.remove((await storage.signingKeys.list()).map(({ kid }) => kid))
      await storage.signingKeys.add([
        { ...key, kid: 'a', state: 'current' },
        { ...key, kid: 'b', state: 'next', createdAtMs: createdAtMs + 1 },
      ])
      await storage.signingKeys.update('a', { state: 'last', expiresAtMs: createdAtMs + 10 })
      expect(await storage.signingKeys.list()).toEqual([
        { ...key, kid: 'a', state: 'last', expiresAtMs: createdAtMs + 10 },
        { ...key, kid: 'b', state: 'next', createdAtMs: createdAtMs + 1 },
      ])
      expect(await storage.signingKeys.purge(createdAtMs + 9)).toBe(0)
      expect(await storage.signingKeys.purge(createdAtMs + 10)).toBe(1)
      expect((await storage.signingKeys.list()).map(({ kid }) => kid)).toEqual(['b'])
    })

    it('revokes the tokens of an application with a new generation', async () => {
      const { application: one } = await registered()
      await storage.applications.revokeTokens(one.id)
      expect((await find(one.clientId)).application.tokenGeneration).toBe(1)
    })

    it('finds an application by its ID, and the first of projects that has got a token', async () => {
      const [one, two] = [await registered(), await registered()]
      await registered()
      expect(await storage.applications.find(one.application.id)).toEqual(
        await find(one.application.clientId),
      )
      expect(await storage.applications.find('nobody')).toBeUndefined()
      const projectIds = [one.project.id, two.project.id]
      const [oldest, other] = [one.application.id, two.application.id].toSorted()
      expect(await storage.applications.firstOf(projectIds)).toBe(oldest)
      const lastUses = [{ id: other!, atMs: createdAtMs }]
      await storage.activity.record({ rehashed: [], lastUses, usage: [], requests: [], events: [] })
      expect(await storage.applications.firstOf(projectIds)).toBe(other)
      await storage.applications.update(other!, { deletesAtMs: createdAtMs, deletedBy: 'owner' })
      expect(await storage.applications.firstOf(projectIds)).toBe(oldest)
      expect(await storage.applications.firstOf([])).toBeUndefined()
    })

    it.each(['products', 'scopes'] as const)('keeps a catalogue of %s', async (kind) => {
      const catalogue = storage[kind]
      const { length } = await catalogue.list()
      await catalogue.add([])
      await catalogue.add(['b', 'a'])
      await catalogue.set({ name: 'a', description: 'The first' })
      await catalogue.add(['a', 'c'])
      await catalogue.set({ name: 'd', description: 'The last' })
      await catalogue.set({ name: 'd' })
      await catalogue.remove('b')
      await catalogue.remove('unknown')
      expect(await catalogue.list()).toEqual([
        { name: 'a', description: 'The first' },
        { name: 'c' },
        { name: 'd' },
      ])
      expect(length).toBe(0)
    })

    it('lists the keys that secrets were hashed with', async () => {
      const { application: one } = await registered()
      await storage.secrets.add(secret(one.id, { keyId: 'another' }))
      const keyIds = [...(await secretsByKey(storage.database.query, 0)).keys()]
      expect(keyIds.sort()).toEqual(['another', 'k'])
    })

    it('adds, ends and removes secrets one by one', async () => {
      const { application: one, secrets } = await registered()
      const second = secret(one.id, { expiresAtMs: createdAtMs + 5 })
      await storage.secrets.add(second)
      const byId = async (id: string) => (await find(one.clientId)).secrets.find((each) => each.id === id)
      expect(await byId(second.id)).toMatchObject({ hash: second.hash, expiresAtMs: createdAtMs + 5 })
      await expect(storage.secrets.add({ ...second, prefix: 'twice' })).rejects.toThrow()
      expect(await storage.secrets.countValid(one.id, createdAtMs + 4)).toBe(2)
      expect(await storage.secrets.countValid(one.id, createdAtMs + 5)).toBe(1)
      await storage.secrets.expire(second.id, createdAtMs + 4)
      expect(await byId(second.id)).toEqual({ ...second, expiresAtMs: createdAtMs + 4 })
      await storage.secrets.remove(secrets[0]?.id ?? '')
      expect((await find(one.clientId)).secrets.map(({ id }) => id)).toEqual([second.id])
      await storage.secrets.remove(second.id)
      expect((await find(one.clientId)).secrets).toEqual([])
    })

    it('keeps tokens, many at once, each with its application as it is now', async () => {
      const { application: one, secrets } = await registered()
      const tokens = Array.from({ length: 600 }, () => token(secrets[0]))
      await Promise.all(tokens.map((each) => storage.tokens.save(each)))
      await storage.applications.update(one.id, { status: 'pending' })
      const found = await Promise.all(tokens.map(({ hash }) => storage.tokens.find(hash)))
      expect(found.map((each) => each?.token)).toEqual(tokens)
      expect(found[0]?.application.status).toBe('pending')
      expect(await storage.tokens.find('unknown')).toBeUndefined()
    })

    it('does not find a token with the secret of another application', async () => {
      const [one, other] = [await registered(), await registered()]
      const issued = { ...token(one.secrets[0]), secretId: other.secrets[0]!.id }
      await storage.tokens.save(issued)
      expect(await storage.tokens.find(issued.hash)).toBeUndefined()
    })

    it('finds a token with the expiry of its secret, and not without its secret', async () => {
      const { secrets } = await registered(2)
      const [first, second] = [token(secrets[0]), token(secrets[1])]
      await Promise.all([first, second].map((each) => storage.tokens.save(each)))
      expect((await storage.tokens.find(first.hash))?.secretExpiresAtMs).toBeUndefined()
      await storage.secrets.expire(first.secretId, 5)
      expect((await storage.tokens.find(first.hash))?.secretExpiresAtMs).toBe(5)
      await storage.secrets.remove(first.secretId)
      expect(await storage.tokens.find(first.hash)).toBeUndefined()
      expect(await storage.tokens.find(second.hash)).toBeDefined()
    })

    it('finds a token with the expiry of its public key, and not without its key', async () => {
      const { application: one } = await registered()
      const key = { id: randomUUID(), name: 'k', createdAtMs, jwksUrl: 'https://client.example.com/' }
      const issued = { ...token(undefined), applicationId: one.id, secretId: key.id }
      await storage.tokens.save(issued)
      expect(await storage.tokens.find(issued.hash)).toBeUndefined()
      await storage.applications.update(one.id, { keys: [key] })
      expect((await find(one.clientId)).application.keys).toEqual([key])
      expect((await storage.tokens.find(issued.hash))?.secretExpiresAtMs).toBeUndefined()
      await storage.applications.update(one.id, { keys: [{ ...key, expiresAtMs: 5 }] })
      expect((await storage.tokens.find(issued.hash))?.secretExpiresAtMs).toBe(5)
      await storage.applications.update(one.id, { keys: [] })
      expect(await storage.tokens.find(issued.hash)).toBeUndefined()
    })

    it('accepts an assertion once, even from concurrent calls, until it is purged', async () => {
      const [one, other] = [randomUUID(), randomUUID()]
      const used = await Promise.all([one, one, other].map((each) => storage.assertions.use(each, 100)))
      expect(used).toEqual([true, false, true])
      expect(await storage.assertions.use(one, 100)).toBe(false)
      expect(await storage.assertions.purge(99)).toBe(0)
      expect(await storage.assertions.purge(100)).toBeGreaterThanOrEqual(2)
      expect(await storage.assertions.use(one, 100)).toBe(true)
    })

    it('removes a token permanently', async () => {
      const { secrets } = await registered()
      const [removed, kept] = [token(secrets[0]), token(secrets[0])]
      await Promise.all([removed, kept].map((each) => storage.tokens.save(each)))
      await storage.tokens.remove(removed.hash)
      await storage.tokens.remove(removed.hash)
      expect(await storage.tokens.find(removed.hash)).toBeUndefined()
      expect(await storage.tokens.find(kept.hash)).toBeDefined()
    })

    it('purges only what has expired', async () => {
      const { secrets } = await registered()
      await storage.tokens.clear()
      const [before, at, after] = [token(secrets[0], 99), token(secrets[0], 100), token(secrets[0], 101)]
      await Promise.all([before, at, after].map((each) => storage.tokens.save(each)))
      expect(await storage.tokens.purge(100)).toBe(2)
      expect(await storage.tokens.find(after.hash)).toBeDefined()
      expect(await storage.tokens.find(at.hash)).toBeUndefined()
      expect(await storage.tokens.purge(100)).toBe(0)
    })

    it('counts failures by key, concurrent ones too, until the window ends', async () => {
      const [one, other] = [randomUUID(), randomUUID()]
      const counts = await Promise.all([1, 2, 3].map((nowMs) => storage.failures.add(one, nowMs, 100)))
      expect(new Set(counts.map(({ count }) => count))).toEqual(new Set([1, 2, 3]))
      await storage.failures.add(other, 3, 100)
      const found = await storage.failures.find(one, 50)
      expect(found?.count).toBe(3)
      expect(found?.resetsAtMs).toBeLessThanOrEqual(103)
      expect((await storage.failures.find(other, 50))?.count).toBe(1)
      expect(await storage.failures.find(one, 103)).toBeUndefined()
      await storage.failures.add(one, 200, 100)
      expect(await storage.failures.find(one, 201)).toMatchObject({ count: 1, resetsAtMs: 300 })
    })

    it('moves an application, and deletes it or its project when it is due', async () => {
      const [own, other] = [await registered(2), await registered()]
      const { clientId, id } = own.application
      const deletion = { deletesAtMs: 100, deletedBy: 'administrator' as const }
      await storage.applications.update(id, { projectId: other.project.id, ...deletion })
      expect((await find(clientId)).project.id).toBe(other.project.id)
      expect((await find(clientId)).application).toMatchObject(deletion)
      await storage.applications.update(id, { deletesAtMs: null, deletedBy: null })
      for (const member of ['deletesAtMs', 'deletedBy'])
        expect((await find(clientId)).application).not.toHaveProperty(member)
      expect(await storage.projects.purge(1_000)).toBe(0)

      const issued = token(own.secrets[0])
      await storage.tokens.save(issued)
      await storage.applications.update(id, { deletesAtMs: 100 })
      expect(await storage.projects.purge(99)).toBe(0)
      expect(await storage.tokens.find(issued.hash)).toBeDefined()
      expect(await storage.projects.purge(100)).toBe(1)
      expect(await storage.applications.findClient(clientId)).toBeUndefined()
      expect(await storage.tokens.find(issued.hash)).toBeUndefined()
      expect(await storage.applications.list(other.project.id)).toHaveLength(1)

      const developer = {
        id: randomUUID(),
        name: randomUUID(),
        passwordHash: '',
        administrator: false,
        createdAtMs,
      }
      await storage.developers.invite({ hash: developer.id, administrator: false, expiresAtMs: 100 })
      await storage.developers.join(developer, developer.id, 1)
      await storage.developers.addProject(developer.id, other.project.id)
      expect(await storage.developers.projectIds(developer.id)).toEqual([other.project.id])
      const later = { deletesAtMs: 200, deletedBy: 'owner' as const }
      await storage.projects.update(other.project.id, later)
      expect((await find(other.application.clientId)).project).toMatchObject(later)
      expect(await storage.projects.find(other.project.id)).toMatchObject(later)
      await storage.projects.update(other.project.id, { deletesAtMs: null, deletedBy: null })
      expect(await storage.projects.find(other.project.id)).not.toHaveProperty('deletedBy')
      expect(await storage.projects.list()).toContainEqual(other.project)
      await storage.projects.update(other.project.id, { deletesAtMs: 200 })
      expect(await storage.projects.purge(200)).toBeGreaterThan(0)
      expect(await storage.applications.findClient(other.application.clientId)).toBeUndefined()
      await storage.projects.create(own.project)
      const again = { ...other.application, id: randomUUID(), projectId: own.project.id }
      expect(await storage.applications.create(again, [])).toBe(true)
      expect((await storage.projects.list()).map((each) => each.id)).not.toContain(other.project.id)
      expect(await storage.developers.projectIds(developer.id)).toEqual([])
    })

    it('purges expired failure counts', async () => {
      await storage.failures.clear()
      await storage.failures.add('ended', 1, 100)
      await storage.failures.add('open', 1, 200)
      expect(await storage.failures.purge(101)).toBe(1)
      expect(await storage.failures.find('open', 101)).toMatchObject({ count: 1 })
    })

    it('purges the last uses of what no longer exists', async () => {
      const { application: one, secrets } = await registered(2)
      const key = { id: randomUUID(), name: 'key', createdAtMs, jwksUrl: 'https://keys.example.com' }
      await storage.applications.update(one.id, { keys: [key] })
      const server = { id: randomUUID(), clientId: randomUUID(), name: 'api', createdAtMs, revision: 0 }
      const serverSecret = secret(server.id)
      const serverKey = { ...key, id: randomUUID() }
      await storage.resourceServers.create({ ...server, secrets: [serverSecret], keys: [serverKey] })
      const credentials = [...secrets, key, serverSecret, serverKey].map(({ id }) => id)
      const ids = [one.id, server.id, ...credentials]
      const lastUses = ids.map((id) => ({ id, atMs: 10 }))
      await storage.activity.record({ rehashed: [], lastUses, usage: [], requests: [], events: [] })
      const removed = secrets[0]?.id ?? ''
      await storage.secrets.remove(removed)
      expect(await storage.activity.purgeLastUses(10)).toBe(0)
      expect(await storage.activity.purgeLastUses(11)).toBe(1)
      const kept = [...(await storage.activity.lastUses(ids)).keys()]
      expect(kept.sort()).toEqual(ids.filter((id) => id !== removed).sort())
    })

    it('records last uses, token requests, and the audit log', async () => {
      const { application: one, secrets } = await registered(2)
      const [{ id } = { id: '' }, { id: unused } = { id: '' }] = secrets
      const { clientId } = one
      const entry = { clientId, hourMs: 3_600_000, outcome: 'issued', requests: 2 } as const
      const failed = { ...entry, outcome: 'invalid_client' } as const
      const request = { clientId, outcome: 'issued', address: '::1', minuteMs: 60_000, count: 2 } as const
      await storage.activity.record({
        rehashed: [],
        lastUses: [{ id, atMs: 50 }],
        usage: [entry, failed, { ...entry, hourMs: 0 }],
        requests: [
          { ...request, atMs: 60_001 },
          { ...request, atMs: 1, minuteMs: 0 },
        ],
        events: [
          {
            atMs: 1,
            event: 'log_in_failed',
            actor: 'ada',
            count: 2,
            clientId: one.clientId,
            address: '::1',
            detail: 'd',
          },
        ],
      })
      await storage.activity.record({
        rehashed: [],
        lastUses: [{ id, atMs: 40 }],
        usage: [entry],
        requests: [
          { ...request, atMs: 60_002 },
          { ...request, atMs: 60_003, address: '::2' },
        ],
        events: [{ atMs: 2, event: 'token_revoked', count: 1 }],
      })
      expect(await storage.activity.lastUses([id, unused])).toEqual(new Map([[id, 50]]))
      expect(await storage.activity.lastUses([])).toEqual(new Map())
      const usage = await storage.activity.usage(clientId, 0)
      expect(usage[0]).toEqual({ ...entry, hourMs: 0 })
      expect(usage.slice(1)).toEqual(expect.arrayContaining([{ ...entry, requests: 4 }, failed]))
      expect(await storage.activity.usage(clientId, 1)).toHaveLength(2)
      expect(await storage.activity.purgeUsage(1)).toBe(2)
      expect(await storage.activity.usage(clientId, 0)).toHaveLength(2)
      expect(await storage.activity.requests(clientId, 2)).toEqual([
        { ...request, atMs: 60_003, address: '::2' },
        { ...request, atMs: 60_002, count: 4 },
      ])
      expect(await storage.activity.purgeRequests(60_003)).toBe(2)
      expect(await storage.activity.requests(clientId, 9)).toHaveLength(1)
      const events = async (filter: AuditFilter) =>
        (await storage.audit.list(9, filter)).map(({ event }) => event)
      expect(await events({ actor: 'ada' })).toEqual(['log_in_failed'])
      expect(await events({ event: 'token_revoked', clientId: undefined })).toEqual(['token_revoked'])
      expect(await events({ actor: 'ada', event: 'token_revoked' })).toEqual([])
      expect(await events({ sinceMs: 2, untilMs: 3 })).toEqual(['token_revoked'])
      expect(await events({ untilMs: 2 })).toEqual(['log_in_failed'])
      expect(await events({ untilMs: 2, clientId, address: '::1' })).toEqual(['log_in_failed'])
      expect(await storage.audit.list(2)).toEqual([
        { id: expect.any(Number), atMs: 2, event: 'token_revoked', count: 1 },
        {
          id: expect.any(Number),
          atMs: 1,
          event: 'log_in_failed',
          actor: 'ada',
          count: 2,
          clientId: one.clientId,
          address: '::1',
          detail: 'd',
        },
      ])
      expect(await storage.activity.purgeEvents(2)).toBe(1)
      expect(await events({ untilMs: 3 })).toEqual(['token_revoked'])
    })

    it('tells a thousand counted events of an hour apart, counts the rest together, and keeps ten thousand', async () => {
      const record = (events: readonly AuditEntry[]) =>
        storage.activity.record({ rehashed: [], lastUses: [], usage: [], requests: [], events })
      const hours = Date.UTC(2200, 0)
      const inHour = (hour: number, names: readonly string[]) =>
        names.map((address) => ({
          atMs: hours + hour * 3_600_000 + 5,
          event: 'request_rejected',
          address,
          count: 1,
        }))
      const names = Array.from({ length: 1_200 }, (_, index) => `192.0.2.${index}`)
      for (let hour = 0; hour < 11; hour += 1) await record(inHour(hour, names.slice(0, 900)))
      const before = (await storage.audit.list(99_999, { sinceMs: hours })).length
      expect(before).toBe(9_900)
      await record(inHour(10, names))
      await record(inHour(10, names))
      const counted = await storage.audit.list(99_999, { sinceMs: hours + 10 * 3_600_000 })
      expect(counted).toHaveLength(1_001)
      expect(counted.find(({ detail }) => detail === 'other')).toMatchObject({ count: 400 })
      expect(counted.reduce((sum, { count }) => sum + count, 0)).toBe(900 + 2_400)
      await storage.activity.purgeEvents(0)
      expect(await storage.audit.list(99_999, { sinceMs: hours })).toHaveLength(10_000)
      expect(await storage.activity.purgeEvents(hours * 2)).toBe(10_000)
    })

    it('tells two hundred rejected requests of a client in an hour apart, and all that were issued', async () => {
      const { application: one } = await registered()
      const requests = (outcome: string) =>
        Array.from({ length: 250 }, (_, index) => ({
          clientId: one.clientId,
          outcome,
          address: `192.0.2.${index}`,
          minuteMs: 0,
          atMs: 1,
          count: 1,
        }))
      const all = [...requests('invalid_client'), ...requests('issued')]
      for (let round = 0; round < 2; round += 1)
        await storage.activity.record({ rehashed: [], lastUses: [], usage: [], requests: all, events: [] })
      const stored = await storage.activity.requests(one.clientId, 999)
      const rejected = stored.filter(({ outcome }) => outcome === 'invalid_client')
      expect(rejected).toHaveLength(201)
      expect(rejected.reduce((sum, { count }) => sum + count, 0)).toBe(500)
      expect(stored.filter(({ outcome }) => outcome === 'issued')).toHaveLength(250)
      expect(rejected.find(({ address }) => address === 'other')?.count).toBe(300)
    })

    it('forgets the failures of many networks at once that reset first', async () => {
      const { failures } = storage
      for (let batch = 0; batch < 23; batch += 1) {
        await Promise.all(
          Array.from({ length: 1_000 }, (_, index) => failures.add(`many ${batch} ${index}`, batch, 1e15)),
        )
      }
      const { count } = await storage.database.query
        .selectFrom('failures')
        .select((row) => row.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      expect(count).toBeLessThanOrEqual(22_000)
      expect((await failures.add('many 22 7', 23, 1e15)).count).toBe(2)
      await failures.clear()
    })

    testDevelopers(() => storage)
    testAdministration(() => storage)
    testListings(() => storage)
  })
}
