import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { developerStorage, NameTaken } from '../../src/features/people/storage.ts'
import type { Developer } from '../../src/storage/developer.ts'
import { sessionStorage, type EndedAtProvider } from '../../src/features/sessions/storage.ts'
import type { Storage } from '../../src/features/context.ts'
import { inTestTransaction } from './open-test-storage.ts'

const createdAtMs = 1_700_000_000_000

function developer(more: Partial<Developer> = {}): Developer {
  const id = randomUUID()
  return { id, name: `name ${id}`, passwordHash: 'hash', administrator: false, createdAtMs, ...more }
}

/** The tests that every storage passes for the developers of the portal. It has no developers at first. */
export function testDevelopers(storage: () => Storage): void {
  async function invitation(
    more: { administrator?: boolean; expiresAtMs?: number; createdBy?: string } = {},
  ): Promise<string> {
    const hash = randomUUID()
    await storage().developers.invite({ hash, administrator: false, expiresAtMs: 100, ...more })
    return hash
  }

  /** As the service does it: one act after another. */
  const join = (...args: Parameters<Storage['developers']['join']>) =>
    inTestTransaction(storage(), (database) => developerStorage(database).join(...args))

  async function joined(): Promise<Developer> {
    const one = developer()
    expect(await join(one, await invitation(), 1)).toBe(true)
    return one
  }

  it('accepts one administrator, regardless of how many are invited at once', async () => {
    const first = [1, 2, 3, 4].map(() => developer({ administrator: true }))
    const hashes = await Promise.all(first.map(() => invitation({ administrator: true })))
    const outcomes = await Promise.all(first.map((one, at) => join(one, hashes[at] ?? '', 1)))
    expect(outcomes.filter((joined) => joined)).toEqual([true])
    expect((await storage().developers.list()).filter(({ administrator }) => administrator)).toHaveLength(1)
  })

  it('accepts an invitation once, even from concurrent requests', async () => {
    const hash = await invitation()
    const outcomes = await Promise.all([1, 2, 3, 4].map(() => join(developer(), hash, 1)))
    expect(outcomes.filter((joined) => joined)).toEqual([true])
    expect(await storage().developers.findInvitation(hash, 1)).toBeUndefined()
  })

  it('rejects an invitation that has expired, is unknown, or grants less', async () => {
    const hash = await invitation()
    expect(await storage().developers.findInvitation(hash, 99)).toMatchObject({ administrator: false })
    expect(await join(developer(), hash, 100)).toBe(false)
    expect(await join(developer(), 'unknown', 1)).toBe(false)
    expect(await join(developer({ administrator: true }), hash, 1)).toBe(false)
    expect(await join(developer(), hash, 99)).toBe(true)
  })

  it('keeps an invitation after an attempt with a name that is taken', async () => {
    const { name } = await joined()
    const hash = await invitation()
    await expect(join(developer({ name }), hash, 1)).rejects.toThrow(NameTaken)
    expect(await join(developer(), hash, 1)).toBe(true)
  })

  it('finds a developer by name, and changes the password', async () => {
    const one = await joined()
    expect(await storage().developers.find(one.name)).toEqual(one)
    expect(await storage().developers.find('nobody')).toBeUndefined()
    await storage().developers.changePassword(one.id, 'changed')
    expect((await storage().developers.find(one.name))?.passwordHash).toBe('changed')
  })

  it('finds a developer by the issuer and the subject, until the developer is removed', async () => {
    const [one, other] = [developer(), developer()]
    const identity = { issuer: 'https://id.example.com', subject: one.id }
    const join = (...args: Parameters<Storage['developers']['joinByIdentity']>) =>
      inTestTransaction(storage(), (database) => developerStorage(database).joinByIdentity(...args))
    expect(await storage().developers.findByIdentity(identity)).toBeUndefined()
    expect([await join(one, identity), await join(other, identity)]).toEqual([true, false])
    await expect(join({ ...other, name: one.name }, { ...identity, subject: 'b' })).rejects.toThrow(NameTaken)
    expect(await storage().developers.findByIdentity({ ...identity, subject: 'b' })).toBeUndefined()
    expect(await join(other, { issuer: 'https://other.example.com', subject: one.id })).toBe(true)
    expect(await storage().developers.findByIdentity(identity)).toEqual(one)
    expect(await storage().developers.remove(one.id)).toBe(true)
    expect(await storage().developers.findByIdentity(identity)).toBeUndefined()
    expect(await join(developer(), identity)).toBe(true)
  })

  it('adds an identity to one developer, and removes it', async () => {
    const [one, other] = [await joined(), await joined()]
    const { developers } = storage()
    const identity = { issuer: 'https://id.example.com', subject: `${one.id} ${other.id}` }
    const elsewhere = { ...identity, issuer: 'https://other.example.com' }
    expect(await developers.identities(one.id)).toEqual([])
    const added = await Promise.all([one, other].map(({ id }) => developers.addIdentity(id, identity)))
    expect(new Set(added)).toEqual(new Set([true, false]))
    const [owner, loser] = added[0] ? [one, other] : [other, one]
    expect(await developers.findByIdentity(identity)).toEqual(owner)
    expect(await developers.addIdentity(owner.id, identity)).toBe(false)
    expect(await developers.addIdentity(owner.id, elsewhere)).toBe(true)
    expect(await developers.identities(loser.id)).toEqual([])
    await developers.removeIdentity(loser.id, identity)
    expect(new Set(await developers.identities(owner.id))).toEqual(new Set([identity, elsewhere]))
    await developers.removeIdentity(owner.id, identity)
    expect(await developers.identities(owner.id)).toEqual([elsewhere])
    expect(await developers.addIdentity(loser.id, identity)).toBe(true)
  })

  it('ends the sessions that a provider began, by its session or by person, and no others', async () => {
    const [one, other] = [await joined(), await joined()]
    const issuer = `https://${randomUUID()}.example.com`
    const open = async ({ id: developerId }: Developer, provider?: { issuer: string; sid?: string }) => {
      const hash = randomUUID()
      const session = { hash, developerId, expiresAtMs: 1_000 }
      const subject = developerId
      await storage().sessions.open({
        ...session,
        ...(provider && { provider: { subject, idToken: 'encrypted', ...provider } }),
      })
      return hash
    }
    const hashes = [
      await open(one, { issuer, sid: 'a' }),
      await open(one, { issuer, sid: 'b' }),
      await open(one, { issuer }),
      await open(one),
      await open(other, { issuer, sid: 'b' }),
      await open(one, { issuer: `${issuer}/other`, sid: 'a' }),
    ]
    const remaining = async () => {
      const found = await Promise.all(hashes.map((hash) => storage().sessions.find(hash, 1)))
      return found.flatMap((developer, at) => (developer ? [at] : []))
    }
    const end = (ended: Omit<Parameters<Storage['sessions']['closeOfProvider']>[0], 'issuer'>) =>
      inTestTransaction(storage(), (database) =>
        sessionStorage(database).closeOfProvider({ issuer, ...ended } as EndedAtProvider),
      )
    expect(await end({ sid: 'c' })).toEqual([])
    expect(await end({ subject: other.id, sid: 'a' })).toEqual([])
    expect(await remaining()).toEqual([0, 1, 2, 3, 4, 5])
    expect(await end({ sid: 'a' })).toEqual([one.name])
    expect(await remaining()).toEqual([1, 2, 3, 4, 5])
    expect(await end({ subject: one.id, sid: 'b' })).toEqual([one.name])
    expect(await remaining()).toEqual([2, 3, 4, 5])
    await open(one, { issuer, sid: 'd' })
    expect(await end({ subject: one.id })).toEqual([one.name])
    expect(await remaining()).toEqual([3, 4, 5])
    expect(await end({ subject: one.id })).toEqual([])
  })

  it('keeps the ID token of a session', async () => {
    const { id: developerId } = await joined()
    const session = { hash: randomUUID(), developerId, expiresAtMs: 100 }
    const provider = { issuer: 'https://id.example.com', subject: 's', idToken: 'encrypted' }
    await storage().sessions.open({ ...session, provider })
    await storage().sessions.open({ ...session, hash: `${session.hash} without` })
    expect(await storage().sessions.findIdToken(session.hash)).toBe('encrypted')
    expect(await storage().sessions.findIdToken(`${session.hash} without`)).toBeUndefined()
    expect(await storage().sessions.findExpiry(session.hash)).toBe(100)
    expect(await storage().sessions.findExpiry('unknown')).toBeUndefined()
    await storage().sessions.closeAll(developerId)
    expect(await storage().sessions.findIdToken(session.hash)).toBeUndefined()
  })

  it('does not remove the last administrator', async () => {
    const administrators = (await storage().developers.list()).filter(({ administrator }) => administrator)
    const administrator = administrators[0] ?? developer({ administrator: true })
    if (administrators.length === 0) await join(administrator, await invitation({ administrator: true }), 1)
    expect(await storage().developers.remove(administrator.id)).toBe(false)
    expect(await storage().developers.setAdministrator(administrator.id, false)).toBe(false)
    expect(await storage().developers.find(administrator.name)).toMatchObject({ administrator: true })
  })

  it('lists the projects of each developer', async () => {
    const [one, other] = [await joined(), await joined()]
    const project = {
      id: randomUUID(),
      name: randomUUID(),
      organizationName: 'b',
      developerEmail: 'c',
      createdAtMs,
    }
    await storage().projects.create(project)
    await storage().developers.addProject(one.id, project.id)
    await storage().developers.addProject(one.id, project.id)
    expect(await storage().developers.projectIds(one.id)).toEqual([project.id])
    expect(await storage().developers.ownerIds(project.id)).toEqual([one.id])
    expect(await storage().developers.projectIds(other.id)).toEqual([])
    await storage().developers.removeProject(one.id, project.id)
    expect(await storage().developers.projectIds(one.id)).toEqual([])
  })

  it('keeps sessions until they expire or are closed', async () => {
    const [one, other] = [await joined(), await joined()]
    const open = async (developerId: string, expiresAtMs = 100) => {
      const hash = randomUUID()
      await storage().sessions.open({ hash, developerId, expiresAtMs })
      return hash
    }
    const hashes = [await open(one.id), await open(one.id), await open(other.id)] as const
    expect(await storage().sessions.find(hashes[0], 99)).toEqual(one)
    expect(await storage().sessions.find(hashes[0], 100)).toBeUndefined()
    await storage().sessions.close(hashes[0])
    expect(await storage().sessions.find(hashes[0], 1)).toBeUndefined()
    await storage().sessions.closeAll(one.id)
    expect(await storage().sessions.find(hashes[1], 1)).toBeUndefined()
    expect(await storage().sessions.find(hashes[2], 1)).toEqual(other)
    const late = await open(other.id, 101)
    expect(await storage().sessions.purge(100)).toBe(1)
    expect(await storage().sessions.find(late, 1)).toEqual(other)
  })

  it('sets a password with a link once, even for concurrent requests, and ends the sessions', async () => {
    const [one, other] = [await joined(), await joined()]
    const link = async ({ id }: Developer, expiresAtMs = 100) => {
      const hash = randomUUID()
      await storage().developers.addPasswordLink({ hash, developerId: id, expiresAtMs })
      return hash
    }
    const [hash, spare, others] = [await link(one), await link(one), await link(other)]
    for (const { id } of [one, other]) {
      await storage().sessions.open({ hash: `open for ${id}`, developerId: id, expiresAtMs: 100 })
    }
    expect(await storage().developers.findPasswordLink(hash, 99)).toEqual(one)
    expect(await storage().developers.findPasswordLink(hash, 100)).toBeUndefined()
    const use = (used: string, password: string, nowMs = 1) =>
      storage().developers.usePasswordLink(used, password, nowMs)
    expect(await use(hash, 'late', 100)).toBeUndefined()
    const outcomes = await Promise.all(['a', 'b', 'c', 'd'].map((password) => use(hash, password)))
    const [changed, ...more] = outcomes.filter((outcome) => outcome !== undefined)
    expect(more).toEqual([])
    expect(changed).toMatchObject({ id: one.id, name: one.name })
    expect(await storage().developers.find(one.name)).toEqual(changed)
    expect(await use(spare, 'spare')).toBeUndefined()
    expect(await storage().sessions.find(`open for ${one.id}`, 1)).toBeUndefined()
    expect(await storage().sessions.find(`open for ${other.id}`, 1)).toEqual(other)
    await storage().developers.remove(other.id)
    expect(await use(others, 'gone')).toBeUndefined()
  })

  it('keeps the password of a developer who logs in with a link', async () => {
    const one = await joined()
    await storage().developers.addPasswordLink({ hash: one.id, developerId: one.id, expiresAtMs: 100 })
    expect(await storage().developers.usePasswordLink(one.id, undefined, 1)).toEqual(one)
    expect(await storage().developers.usePasswordLink(one.id, undefined, 1)).toBeUndefined()
  })

  it('removes a developer with the sessions, and no other developer', async () => {
    const [one, other] = [await joined(), await joined()]
    const project = {
      id: randomUUID(),
      name: randomUUID(),
      organizationName: 'b',
      developerEmail: 'c',
      createdAtMs,
    }
    await storage().projects.create(project)
    for (const { id } of [one, other]) {
      await storage().developers.addProject(id, project.id)
      await storage().sessions.open({ hash: `session of ${id}`, developerId: id, expiresAtMs: 100 })
    }
    await storage().developers.remove(one.id)
    await storage().developers.remove(one.id)
    expect(await storage().developers.find(one.name)).toBeUndefined()
    expect(await storage().sessions.find(`session of ${one.id}`, 1)).toBeUndefined()
    expect(await storage().developers.projectIds(one.id)).toEqual([])
    expect(await storage().sessions.find(`session of ${other.id}`, 1)).toEqual(other)
    expect(await storage().projects.list()).toContainEqual(project)
  })

  it('withdraws the links that an administrator created', async () => {
    const { developers } = storage()
    const [one, creator] = [developer(), randomUUID()]
    await join(one, await invitation(), 1)
    const kept = await invitation()
    const hashes = [await invitation({ createdBy: creator }), await invitation({ createdBy: creator })]
    expect(await developers.findInvitation(hashes[0]!, 1)).toMatchObject({ createdBy: creator })
    const link = { developerId: one.id, expiresAtMs: 100 }
    const links = [randomUUID(), randomUUID()] as const
    await developers.addPasswordLink({ ...link, hash: links[0], createdBy: creator })
    await developers.addPasswordLink({ ...link, hash: links[1] })
    expect(await developers.withdrawLinksOf(creator)).toBe(2)
    for (const hash of hashes) expect(await developers.findInvitation(hash, 1)).toBeUndefined()
    expect(await developers.findInvitation(kept, 1)).not.toHaveProperty('createdBy')
    expect(await developers.findPasswordLink(links[0], 1)).toBeUndefined()
    expect(await developers.findPasswordLink(links[1], 1)).toMatchObject({ id: one.id })
  })

  it('purges expired invitations and password links', async () => {
    await storage().developers.purge(1_000)
    const { id } = await joined()
    await invitation()
    const late = await invitation({ expiresAtMs: 101 })
    for (const expiresAtMs of [100, 101]) {
      await storage().developers.addPasswordLink({
        hash: `until ${expiresAtMs}`,
        developerId: id,
        expiresAtMs,
      })
    }
    expect(await storage().developers.purge(100)).toBe(2)
    expect(await storage().developers.findInvitation(late, 100)).toBeDefined()
    expect(await storage().developers.findPasswordLink('until 101', 100)).toBeDefined()
  })
}

/** What every storage does for resource servers, and for administrators of the portal. */
export function testAdministration(storage: () => Storage): void {
  it('keeps an administrator, regardless of how many are removed at once', async () => {
    const { developers } = storage()
    const join = async (administrator: boolean) => {
      const id = randomUUID()
      await developers.invite({ hash: id, administrator, expiresAtMs: 100 })
      await developers.join({ id, name: id, passwordHash: 'h', administrator, createdAtMs: 1 }, id, 1)
      return id
    }
    await join(true)
    const others = await Promise.all([1, 2, 3].map(() => join(false)))
    for (const id of others) expect(await developers.setAdministrator(id, true)).toBe(true)
    expect(await developers.setAdministrator('unknown', true)).toBe(false)
    const administrators = (await developers.list()).filter(({ administrator }) => administrator)
    expect(administrators.length).toBeGreaterThanOrEqual(4)
    const outcomes = await Promise.all(
      administrators.map(({ id }, at) =>
        inTestTransaction(storage(), (database) => {
          const stored = developerStorage(database)
          return at % 2 === 0 ? stored.remove(id) : stored.setAdministrator(id, false)
        }),
      ),
    )
    expect(outcomes.filter((isDone) => !isDone)).toHaveLength(1)
    expect((await developers.list()).filter(({ administrator }) => administrator)).toHaveLength(1)
  })

  it('keeps resource servers, and changes only the given revision', async () => {
    const { resourceServers } = storage()
    const [id, clientId] = [randomUUID(), randomUUID()]
    const secret = {
      id: randomUUID(),
      ownerId: id,
      keyId: 'k',
      hash: 'h',
      prefix: 'p',
      createdAtMs: 1,
      expiresAtMs: 2,
    }
    const key = { id: 'k', name: 'n', createdAtMs: 1, jwksUrl: 'https://api.example.com/jwks' }
    const server = {
      id,
      clientId,
      name: 'an API',
      createdAtMs: 1,
      secrets: [secret],
      keys: [key],
      revision: 0,
    }
    const created = await Promise.all([1, 2].map(() => resourceServers.create(server)))
    expect(new Set(created)).toEqual(new Set([true, false]))
    expect(await resourceServers.find(clientId)).toEqual(server)
    expect(await resourceServers.list()).toContainEqual(server)
    await storage().secrets.remove(secret.id)
    expect(await resourceServers.update(id, { name: 'other' }, 0)).toBe(true)
    expect(await resourceServers.update(id, { keys: [] }, 0)).toBe(false)
    expect(await resourceServers.update(id, {})).toBe(true)
    const changed = { ...server, secrets: [], name: 'other', revision: 2 }
    expect(await resourceServers.find(clientId)).toEqual(changed)
    await storage().secrets.add(secret)
    await resourceServers.remove(id)
    // Its secrets are removed with it.
    await storage().secrets.add(secret)
    expect(await resourceServers.find(clientId)).toBeUndefined()
    expect(await resourceServers.find('%')).toBeUndefined()
  })
}
