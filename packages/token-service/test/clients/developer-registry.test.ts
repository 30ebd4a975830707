import { describe, expect, it } from 'vitest'
import { createAccountLinks } from '../../src/clients/account-links.ts'
import { createDeveloperRegistry, LastAdministrator } from '../../src/clients/developer-registry.ts'
import { digest } from '../../src/runtime/digest.ts'
import { createActivityRecorder } from '../../src/storage/activity-recorder.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'

describe('the developer registry', () => {
  it('promotes, demotes and removes developers, but not the last administrator', async () => {
    const storage = await openMemory()
    const { developers } = storage
    const activity = createActivityRecorder({
      storage: storage.activity,
      clock: { now: () => 1 },
      onError: () => {},
    })
    const registry = createDeveloperRegistry({ storage, activity }, { actor: 'ada', address: '192.0.2.1' })
    const join = async (name: string, administrator: boolean) => {
      const developer = { id: name, name, passwordHash: '', administrator, createdAtMs: 1 }
      await developers.invite({ hash: name, administrator, expiresAtMs: 9 })
      await developers.join(developer, name, 1)
      return developer
    }
    const [ada, bob] = [await join('ada', true), await join('bob', false)]

    await expect(registry.demote(ada)).rejects.toThrow(LastAdministrator)
    await expect(registry.remove(ada)).rejects.toThrow(/The last administrator cannot be removed/)
    await registry.promote(bob)
    await registry.demote(ada)
    expect((await developers.list()).map(({ administrator }) => administrator)).toEqual([false, true])
    await registry.remove(ada)
    await expect(registry.remove(bob)).rejects.toThrow(LastAdministrator)
    await activity.flush()
    const events = (await storage.activity.audit(10)).map(
      ({ event, actor, detail }) => `${actor} ${event} ${detail}`,
    )
    expect(events).toEqual([
      'ada developer_removed ada',
      'ada developer_demoted ada',
      'ada developer_promoted bob',
    ])
  })
})

it('creates invitations for the first developer until there is one', async () => {
  const storage = await openMemory()
  const { developers } = storage
  const links = createAccountLinks(storage, { now: () => 1 })
  const [first, second] = [await links.createSetupInvitation(), await links.createSetupInvitation()]
  const join = (id: string, invitation = '') =>
    developers.join(
      { id, name: id, passwordHash: '', administrator: true, createdAtMs: 1 },
      digest(invitation),
      1,
    )
  expect(await join('ada', first)).toBe('joined')
  expect(await join('bob', second)).toBe('void')
  expect(await links.createSetupInvitation()).toBeUndefined()
})
