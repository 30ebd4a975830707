import { expect, it } from 'vitest'
import { createActivityRecorder } from '../../src/storage/activity-recorder.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { AlreadyExists } from '../../src/clients/application-registry.ts'
import { createResourceServerRegistry } from '../../src/clients/resource-server-registry.ts'
import { createKeyring, createRandomKey } from '../../src/clients/keyring.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'

it('creates nothing twice with the same ID of its secret, as a form that is sent twice', async () => {
  const storage = await openMemory()
  const activity = createActivityRecorder({
    storage: storage.activity,
    clock: systemClock,
    onError: () => {},
  })
  const keyring = createKeyring([createRandomKey()])
  const registry = createResourceServerRegistry(
    { storage, keyring, clock: systemClock, activity },
    { actor: 'ada', address: '192.0.2.1' },
  )
  const { resourceServer } = await registry.create('billing API', 'first')
  await registry.rotateSecret(resourceServer.clientId, 0, 'second')
  for (const id of ['first', 'second']) {
    await expect(registry.create('billing API', id)).rejects.toBeInstanceOf(AlreadyExists)
    await expect(registry.rotateSecret(resourceServer.clientId, 0, id)).rejects.toBeInstanceOf(AlreadyExists)
  }
  expect(await registry.list()).toMatchObject([{ secrets: [{ id: 'first' }, { id: 'second' }] }])
})
