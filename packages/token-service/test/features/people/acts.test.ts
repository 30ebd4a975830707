import { describe, expect, it } from 'vitest'
import { createAct } from '../../../src/features/acts.ts'
import { createDeveloperRegistry, LastAdministrator } from '../../../src/features/people/acts.ts'
import { openTestMemory, performOn } from '../../storage/open-test-storage.ts'

describe('the developer registry', () => {
  it('promotes, demotes and removes developers, but not the last administrator', async () => {
    const storage = await openTestMemory()
    const { developers } = storage
    const act = createAct(performOn(storage))
    const registry = createDeveloperRegistry({ act }, { actorType: 'person', actor: 'ada' })
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
    const events = (await storage.audit.list(3)).map(
      ({ event, actor, detail }) => `${actor} ${event} ${detail}`,
    )
    expect(events).toEqual([
      'ada developer_removed ada',
      'ada developer_demoted ada',
      'ada developer_promoted bob',
    ])
  })
})
