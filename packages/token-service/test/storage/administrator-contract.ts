import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { Storage } from '../../src/storage/storage.ts'

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
        at % 2 === 0 ? developers.remove(id) : developers.setAdministrator(id, false),
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
    expect(await storage().secrets.add(secret)).toBe(true)
    expect(await resourceServers.find(clientId)).toBeUndefined()
    expect(await resourceServers.find('%')).toBeUndefined()
  })
}
