import { expect, it } from 'vitest'
import { createActivityRecorder } from '../../src/storage/activity-recorder.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { AlreadyExists } from '../../src/clients/credential-registry.ts'
import { createResourceServerRegistry } from '../../src/clients/resource-server-registry.ts'
import { createKeyring, createRandomKey } from '../../src/clients/keyring.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'

it('creates nothing twice with the same ID, as a form that is sent twice', async () => {
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
  await registry.rotateSecret(resourceServer, 0, 'second')
  await expect(registry.create('billing API', 'first')).rejects.toBeInstanceOf(AlreadyExists)
  await expect(registry.rotateSecret(resourceServer, 0, 'second')).rejects.toBeInstanceOf(AlreadyExists)
  const created = resourceServer.secrets[0]?.id
  expect(await registry.list()).toMatchObject([{ secrets: [{ id: created }, { id: 'second' }] }])
})
