import { expect, it } from 'vitest'
import { resolveApplications } from '../../src/registry/application-schema.ts'
import { seedApplications } from '../../src/registry/seed-applications.ts'
import { createKeyring, createRandomKey } from '../../src/secret-hashing/keyring.ts'
import { createMemoryStorage } from '../../src/storage/memory/memory-storage.ts'
import { application } from '../test-service.ts'

it('leaves out an application that another instance removes in the meantime', async () => {
  const memory = createMemoryStorage()
  const storage = {
    ...memory,
    applications: { ...memory.applications, create: () => Promise.resolve(false) },
  }
  const warnings: string[] = []
  await seedApplications(resolveApplications([application]), {
    storage,
    keyring: createKeyring([createRandomKey()]),
    nowMs: 0,
    secretOverlapSeconds: 0,
    warn: (message) => warnings.push(message),
  })
  expect(warnings).toEqual([])
})
