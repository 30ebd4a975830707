import { expect, it } from 'vitest'
import { resolveOptions } from '../../src/service/token-service-options.ts'
import { seedApplications } from '../../src/clients/seed-applications.ts'
import { createKeyring, createRandomKey } from '../../src/clients/keyring.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'
import { application } from '../test-service.ts'

it('leaves out an application that another instance removes in the meantime, but not its products', async () => {
  const memory = await openMemory()
  const storage = {
    ...memory,
    applications: { ...memory.applications, create: () => Promise.resolve(false) },
  }
  const warnings: string[] = []
  await seedApplications(
    resolveOptions({ applications: [application, { ...application, clientId: 'other' }] }).applications,
    {
      storage,
      keyring: createKeyring([createRandomKey()]),
      nowMs: 0,
      secretOverlapSeconds: 0,
      warn: (message) => warnings.push(message),
    },
  )
  expect(warnings).toEqual([])
  expect(await storage.products.list()).toEqual(['sms', 'speech-to-text'])
})

it('changes the secret of an application that also has a key', async () => {
  const storage = await openMemory()
  const keyring = createKeyring([createRandomKey()])
  const start = async (clientSecret?: string) => {
    const warnings: string[] = []
    const options = { name: 'a', clientId: 'a', jwksUrl: 'https://a.example.com/jwks.json', clientSecret }
    const warn = (message: string) => void warnings.push(message)
    const context = { storage, keyring, nowMs: 0, secretOverlapSeconds: 60, warn }
    await seedApplications(resolveOptions({ applications: [options] }).applications, context)
    const client = await storage.applications.findClient('a')
    return [warnings, client?.secrets.map(({ expiresAtMs }) => expiresAtMs)]
  }
  const changed = 'The configured secret of "a" was changed.'
  const before = 'The previous one expires at 1970-01-01T00:01:00.000Z.'
  expect(await start()).toEqual([[], []])
  expect(await start()).toEqual([[], []])
  expect(await start('first-secret-0123456789')).toEqual([[changed], [undefined]])
  expect(await start()).toEqual([[`${changed} ${before}`], [60_000]])
  expect(await start()).toEqual([[], [60_000]])
})

it('creates each project once, however often the service starts', async () => {
  const storage = await openMemory()
  const context = {
    storage,
    keyring: createKeyring([createRandomKey()]),
    nowMs: 0,
    secretOverlapSeconds: 0,
    warn: () => {},
  }
  const options = ['one', 'one', 'two'].map((project, index) => ({
    name: 'a',
    clientId: `a${index}`,
    clientSecret: 'secret-0123456789',
    project,
  }))
  for (let start = 0; start < 2; start += 1)
    await seedApplications(resolveOptions({ applications: options }).applications, context)
  expect((await storage.projects.list()).map(({ name }) => name)).toEqual(['one', 'two'])
})
