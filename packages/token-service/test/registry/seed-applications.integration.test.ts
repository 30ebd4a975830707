import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { startTokenService } from '@tokenwell/token-service'
import { temporaryFolder } from '../service-process.ts'
import { application, requestToken } from '../test-service.ts'

describe('applications that are configured', () => {
  it('are created once, stay unchanged, and need their keys', { timeout: 60_000 }, async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const [older, newer] = ['o'.repeat(40), 'n'.repeat(40)]
    await (await startTokenService({ storage, applications: [application], keys: [older] })).close()

    await expect(startTokenService({ storage, keys: [newer] })).rejects.toThrow(/None of the keys/)

    const changed = { ...application, clientSecret: 'another-secret', lifetimeSeconds: 1 }
    const keys = [newer, older]
    const service = await startTokenService({ storage, applications: [changed], keys })
    const { status, body } = await requestToken(service.authUrl)
    expect([status, body.expires_in]).toEqual([200, '3600'])
    expect((await requestToken(service.authUrl, changed)).status).toBe(401)
    await service.close()
  })
})
