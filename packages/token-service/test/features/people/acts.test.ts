import { describe, expect, it } from 'vitest'
import {
  demoteDeveloper,
  LastAdministrator,
  promoteDeveloper,
  removeDeveloper,
} from '../../../src/features/people/acts.ts'
import type { Developer } from '../../../src/storage/developer.ts'
import { openTestMemory, performOn } from '../../storage/open-test-storage.ts'

describe('acts on developers', () => {
  it('promotes, demotes and removes developers, but not the last administrator', async () => {
    const storage = await openTestMemory()
    const { developers } = storage
    const perform = performOn(storage)
    const byAda = (act: typeof removeDeveloper, developer: Developer) =>
      perform({ actorType: 'person', actor: 'ada' }, (each) => act(each, developer))
    const join = async (name: string, administrator: boolean) => {
      const developer = { id: name, name, passwordHash: '', administrator, createdAtMs: 1 }
      await developers.invite({ hash: name, administrator, expiresAtMs: 9 })
      await developers.join(developer, name, 1)
      return developer
    }
    const [ada, bob] = [await join('ada', true), await join('bob', false)]

    await expect(byAda(demoteDeveloper, ada)).rejects.toThrow(LastAdministrator)
    await expect(byAda(removeDeveloper, ada)).rejects.toThrow(/The last administrator cannot be removed/)
    await byAda(promoteDeveloper, bob)
    await byAda(demoteDeveloper, ada)
    expect((await developers.list()).map(({ administrator }) => administrator)).toEqual([false, true])
    await byAda(removeDeveloper, ada)
    await expect(byAda(removeDeveloper, bob)).rejects.toThrow(LastAdministrator)
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
