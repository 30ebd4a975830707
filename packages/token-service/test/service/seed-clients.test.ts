import { expect, it, describe } from 'vitest'
import type { ResourceServerOptions } from '../../src/service/token-service-options.ts'
import { seedApplications, seedResourceServers } from '../../src/service/seed-clients.ts'
import { resolveOptions } from '../../src/service/service-settings.ts'
import type { Storage } from '../../src/features/context.ts'
import { openTestMemory, performOn } from '../storage/open-test-storage.ts'

function contextOf(storage: Storage, nowMs: number, warn: (message: string) => void) {
  const perform = performOn(storage, { clock: { now: () => nowMs } })
  return { database: storage.database, perform, secretOverlapSeconds: 60, warn }
}

it('changes the secret of an application that also has a key', async () => {
  const storage = await openTestMemory()
  const start = async (clientSecret?: string) => {
    const warnings: string[] = []
    const options = { name: 'a', clientId: 'a', jwksUrl: 'https://a.example.com/jwks.json', clientSecret }
    const warn = (message: string) => void warnings.push(message)
    const context = contextOf(storage, 0, warn)
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
  const storage = await openTestMemory()
  const context = contextOf(storage, 0, () => {})
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

const secrets = ['first-secret-0123456789', 'second-secret-0123456789', 'third-secret-0123456789'] as const
const jwksUrl = 'https://api.example.com/jwks.json'

async function starts() {
  const storage = await openTestMemory()
  /** Returns the warnings, and the resource server afterwards. */
  return async (nowMs: number, options: Omit<ResourceServerOptions, 'clientId'>, replace?: boolean) => {
    const warnings: string[] = []
    const warn = (message: string) => void warnings.push(message)
    const context = { ...contextOf(storage, nowMs, warn), replace }
    await seedResourceServers([{ clientId: 'api', ...options }], context)
    const [server] = await storage.resourceServers.list()
    if (!server) throw new Error('There is no resource server.')
    return { warnings, expiry: server.secrets.map(({ expiresAtMs }) => expiresAtMs), server }
  }
}

const changed = 'The configured secret of "api" was changed.'
const replacedUntil = (ms: number) => `${changed} The previous one expires at ${new Date(ms).toISOString()}.`
const keysChanged = 'The configured keys of "api" were changed.'
const revoked = 'The configured secret of "api" has expired or was revoked. Configure another one.'

describe('a resource server that is configured', () => {
  it('is named after its client ID, and is not changed by another start', async () => {
    const start = await starts()
    const created = await start(0, { clientSecret: secrets[0] })
    expect([created.warnings, created.server.name, created.expiry]).toEqual([[], 'api', [undefined]])
    expect(await start(1, { clientSecret: secrets[0], name: 'Speech' })).toEqual(created)
  })

  it('gets a changed secret, and each previous one expires after the overlap', async () => {
    const start = await starts()
    await start(0, { clientSecret: secrets[0] })
    const second = await start(0, { clientSecret: secrets[1] })
    expect([second.warnings, second.expiry]).toEqual([[replacedUntil(60_000)], [60_000, undefined]])
    const third = await start(30_000, { clientSecret: secrets[2] })
    expect([third.warnings, third.expiry]).toEqual([[replacedUntil(90_000)], [60_000, 90_000, undefined]])
    const again = await start(60_000, { clientSecret: secrets[0] })
    expect([again.warnings, again.expiry]).toEqual([
      [revoked, replacedUntil(120_000)],
      [60_000, 90_000, 120_000],
    ])
    const unchanged = await start(60_000, { clientSecret: secrets[0] })
    expect([unchanged.warnings, unchanged.expiry]).toEqual([[revoked], again.expiry])
  })

  it('can have a key instead of a secret, which then expires', async () => {
    const start = await starts()
    await start(0, { clientSecret: secrets[0] })
    const { warnings, expiry, server } = await start(0, { jwksUrl })
    expect([warnings, expiry]).toEqual([[replacedUntil(60_000), keysChanged], [60_000]])
    expect(server.keys).toMatchObject([{ jwksUrl, configured: true }])
    expect((await start(0, { jwksUrl })).warnings).toEqual([])
    const other = await start(0, { jwksUrl: `${jwksUrl}?second` })
    expect(other.warnings).toEqual([keysChanged])
    expect(other.server.keys).toMatchObject([{ jwksUrl: `${jwksUrl}?second` }])
    expect((await start(0, { clientSecret: secrets[1] })).server.keys).toEqual([])
  })

  it('gets a secret in addition to its key', async () => {
    const start = await starts()
    await start(0, { jwksUrl })
    const { warnings, expiry, server } = await start(0, { jwksUrl, clientSecret: secrets[0] })
    expect([warnings, expiry, server.keys.length]).toEqual([[changed], [undefined], 1])
  })

  it('is restored to its configuration on request', async () => {
    const start = await starts()
    await start(0, { clientSecret: secrets[0], jwksUrl })
    const { warnings, expiry, server } = await start(0, { clientSecret: secrets[1], name: 'Speech' }, true)
    expect([warnings, expiry, server.name, server.keys]).toEqual([[], [undefined], 'Speech', []])
  })
})
