import { describe, expect, it } from 'vitest'
import { startTokenService } from '@tokenwell/token-service'
import { temporaryFolder } from '../service-process.ts'
import { application, requestToken } from '../test-service.ts'

describe('configured applications', () => {
  it('are created once: what is there already stays as it is', { timeout: 60_000 }, async () => {
    const storage = `pglite:${temporaryFolder()}/data`
    const first = await startTokenService({ storage, applications: [application] })
    await first.close()
    const changed = { ...application, clientSecret: 'another-secret', lifetimeSeconds: 1 }
    const second = await startTokenService({ storage, applications: [changed] })
    const { status, body } = await requestToken(second.authUrl)
    expect([status, body.expires_in]).toEqual([200, '3600'])
    expect((await requestToken(second.authUrl, changed)).status).toBe(401)
    await second.close()
  })

  it('cannot be used with the keys of another database', { timeout: 60_000 }, async () => {
    const storage = `pglite:${temporaryFolder()}/data`
    const [older, newer] = ['o'.repeat(40), 'n'.repeat(40)]
    const applications = [application]
    await (await startTokenService({ storage, applications, keys: [older] })).close()
    await expect(startTokenService({ storage, keys: [newer] })).rejects.toThrow(/None of the secrets/)
    const rotated = await startTokenService({ storage, keys: [newer, older] })
    expect((await requestToken(rotated.authUrl)).status).toBe(200)
    await rotated.close()
  })
})
