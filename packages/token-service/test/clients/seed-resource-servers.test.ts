import { describe, expect, it } from 'vitest'
import { seedResourceServers, type ResourceServerOptions } from '../../src/clients/seed-resource-servers.ts'
import { createKeyring, createRandomKey } from '../../src/clients/keyring.ts'
import { openMemory } from '../../src/storage/sqlite/open-sqlite.ts'

const secrets = ['first-secret-0123456789', 'second-secret-0123456789', 'third-secret-0123456789'] as const
const jwksUrl = 'https://api.example.com/jwks.json'

async function starts() {
  const storage = await openMemory()
  const keyring = createKeyring([createRandomKey()])
  /** Returns the warnings, and the resource server afterwards. */
  return async (nowMs: number, options: Omit<ResourceServerOptions, 'clientId'>, replace?: boolean) => {
    const warnings: string[] = []
    const warn = (message: string) => void warnings.push(message)
    const context = { storage, keyring, nowMs, secretOverlapSeconds: 60, warn, replace }
    await seedResourceServers([{ clientId: 'api', ...options }], context)
    const [server] = await storage.resourceServers.list()
    if (!server) throw new Error('There is no resource server.')
    return { warnings, expiry: server.secrets.map(({ expiresAtMs }) => expiresAtMs), server }
  }
}

const changed = 'The configured credentials of the resource server "api" were changed.'
const revoked =
  'The configured secret of the resource server "api" has expired or was revoked. Configure another one.'

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
    expect([second.warnings, second.expiry]).toEqual([[changed], [60_000, undefined]])
    const third = await start(30_000, { clientSecret: secrets[2] })
    expect([third.warnings, third.expiry]).toEqual([[changed], [60_000, 90_000, undefined]])
    const again = await start(60_000, { clientSecret: secrets[0] })
    expect([again.warnings, again.expiry]).toEqual([
      [revoked, changed],
      [60_000, 90_000, 120_000],
    ])
    const unchanged = await start(60_000, { clientSecret: secrets[0] })
    expect([unchanged.warnings, unchanged.expiry]).toEqual([[revoked], again.expiry])
  })

  it('can have a key instead of a secret, which then expires', async () => {
    const start = await starts()
    await start(0, { clientSecret: secrets[0] })
    const { warnings, expiry, server } = await start(0, { jwksUrl })
    expect([warnings, expiry]).toEqual([[changed], [60_000]])
    expect(server.keys).toMatchObject([{ jwksUrl, configured: true }])
    expect((await start(0, { jwksUrl })).warnings).toEqual([])
    const other = await start(0, { jwksUrl: `${jwksUrl}?second` })
    expect(other.warnings).toEqual([changed])
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
