import { join } from 'node:path'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  startTokenService,
  type ApplicationOptions,
  type TokenServiceOptions,
} from '@tokenwell/token-service'
import { temporaryFolder } from '../service-process.ts'
import { application, introspect, requestToken, resourceServer, testService } from '../test-service.ts'

describe('applications that are configured', () => {
  it('need only a name and credentials', async () => {
    const { clientId, clientSecret } = application
    const { authUrl } = await testService({ applications: [{ name: 'plain', clientId, clientSecret }] })
    expect((await requestToken(authUrl)).body).toMatchObject({
      api_product_list: '[]',
      api_product_list_json: [],
      expires_in: '3600',
      status: 'approved',
      organization_name: 'example-org',
      developer_email: 'developer@example.com',
    })
  })

  it('are created once, stay unchanged, and need their keys', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const [older, newer] = ['o'.repeat(40), 'n'.repeat(40)]
    await (await startTokenService({ storage, applications: [application], secretHashKeys: [older] })).close()

    await expect(startTokenService({ storage, secretHashKeys: [newer] })).rejects.toThrow(/None of the keys/)

    const secretHashKeys = [newer, older]
    const changed = { ...application, lifetimeSeconds: 1 }
    const service = await startTokenService({ storage, applications: [changed], secretHashKeys })
    const { status, body } = await requestToken(service.authUrl)
    expect([status, body.expires_in]).toEqual([200, '3600'])
    await service.close()
  })

  it('get a changed secret, and the previous one expires', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const time = { now: Date.UTC(2026, 0, 31) }
    const clock = { now: () => time.now }
    const changed = { ...application, clientSecret: 'another-secret-0123456789' }
    let log = ''
    const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) })
    const start = async (applications: ApplicationOptions[], more: TokenServiceOptions = {}) => {
      const resourceServers = [resourceServer]
      const options = {
        storage,
        clock,
        logger,
        applications,
        resourceServers,
        secretOverlapSeconds: 3_600,
        ...more,
      }
      const service = await startTokenService(options)
      onTestFinished(() => service.close())
      return service
    }
    const first = await start([application])
    await first.close()
    expect(log).toBe('')

    const second = await start([changed])
    expect(log).toContain('was changed. The previous one expires at 2026-01-31T01:00:00.000Z.')
    for (const each of [application, changed])
      expect((await requestToken(second.authUrl, each)).status).toBe(200)
    const { body } = await requestToken(second.authUrl)
    time.now += 3_600_000
    expect((await requestToken(second.authUrl)).status).toBe(401)
    expect((await introspect(second.authUrl, body.access_token)).body).toEqual({ active: false })
    expect((await requestToken(second.authUrl, changed)).status).toBe(200)
    await second.close()

    const third = await start([{ ...changed, clientSecret: 'a-third-secret-0123456789' }], {
      secretOverlapSeconds: 0,
    })
    expect((await requestToken(third.authUrl, changed)).status).toBe(401)
    await third.close()
    log = ''
    const fourth = await start([changed])
    expect(log).toContain('has expired or was revoked')
    expect((await requestToken(fourth.authUrl, changed)).status).toBe(401)
  })

  it('change their secret twice without a longer time for the first', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const time = { now: Date.UTC(2026, 0, 31) }
    const start = (clientSecret: string) =>
      startTokenService({
        storage,
        clock: { now: () => time.now },
        logger: pino({ level: 'silent' }),
        applications: [{ ...application, clientSecret }],
        secretOverlapSeconds: 3_600,
      })
    const secrets = ['1', '2', '3'].map((digit) => digit.repeat(32))
    for (const secret of secrets.slice(0, 2)) await (await start(secret)).close()
    time.now += 1_800_000
    const service = await start(secrets[2]!)
    onTestFinished(() => service.close())
    time.now += 1_800_000
    const statusOf = async (clientSecret: string) =>
      (await requestToken(service.authUrl, { ...application, clientSecret })).status
    expect(await Promise.all(secrets.map(statusOf))).toEqual([401, 200, 200])
  })

  it.each([
    [
      { applications: [application, { ...application, name: 'other' }] },
      /applications contains the client ID "demo-client" twice/,
    ],
    [{ resourceServers: [resourceServer, resourceServer] }, /resourceServers contains the client ID/],
    [
      { applications: [{ ...application, clientSecret: 'fifteen-letters' }] },
      /"demo-client" in applications is too short/,
    ],
    [
      { resourceServers: [{ ...resourceServer, clientSecret: 'short' }] },
      /"speech-api" in resourceServers is too short/,
    ],
    [
      { applications: [{ clientId: 'demo-client' } as never] },
      /^The setting "applications\[0\]\.name" is missing\.$/,
    ],
    [
      { applications: [{ ...application, lifetimeSeconds: '3600' as never }] },
      /^The setting "applications\[0\]\.lifetimeSeconds" must be a number\.$/,
    ],
    [
      { applications: [{ ...application, clientSecretExpiresAt: 'tomorrow' }] },
      /^The setting "applications\[0\]\.clientSecretExpiresAt" must be a date and time with a time zone/,
    ],
    [
      { applications: [{ ...application, products: ['a,b'] }] },
      /^"demo-client" in applications has the product "a,b", whose name must not contain commas or brackets, or start or end with a space\.$/,
    ],
    [
      { applications: [{ ...application, products: ['sms', '[a]'] }] },
      /^"demo-client" in applications has the product "\[a\]", whose name must not contain commas/,
    ],
    [
      { applications: [{ ...application, jwksUrl: 'http://keys.example.com' }] },
      /^"demo-client" in applications has no usable public key\. The URL of a JWK set must start with https/,
    ],
    [
      { applications: [{ ...application, publicKey: 'nonsense' }] },
      /^"demo-client" in applications has no usable public key\. The public key is invalid/,
    ],
    [
      { resourceServers: [{ ...resourceServer, jwksUrl: 'keys' }] },
      /^"speech-api" in resourceServers has no usable public key\. /,
    ],
    [{ applications: {} as never }, /^The setting "applications" must be a list\.$/],
  ])(
    'are rejected with invalid fields, duplicate client IDs or weak secrets: %#',
    async (options, message) => {
      const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
      await expect(startTokenService({ storage, ...options })).rejects.toThrow(message)
    },
  )
})
