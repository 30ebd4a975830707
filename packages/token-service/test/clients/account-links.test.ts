import { expect, it } from 'vitest'
import { digest } from '../../src/runtime/digest.ts'
import { createAccountLinks } from '../../src/clients/account-links.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'

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
