import { describe, expect, it } from 'vitest'
import { application, basic, introspect, postForm, requestToken, testService } from '../test-service.ts'

describe('revocation', () => {
  it('revokes a token at once, and accepts an unknown one', async () => {
    const { authUrl } = await testService()
    const { body: token } = await requestToken(authUrl)
    const form = { token: token.access_token }
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
    expect((await introspect(authUrl, token.access_token)).body).toEqual({ active: false })
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
  })

  it('accepts an unknown token of 16 KiB', async () => {
    const { authUrl } = await testService()
    const form = { token: 'x'.repeat(16 * 1024) }
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
  })

  it("does not revoke another client's token", async () => {
    const other = { ...application, clientId: 'other', clientSecret: 'other-secret-0123456789' }
    const { authUrl } = await testService({ applications: [application, other] })
    const { body: token } = await requestToken(authUrl)
    const response = await postForm(`${authUrl}/oauth/revoke`, { token: token.access_token }, basic(other))
    expect(response.status).toBe(400)
    expect(response.body.error).toBe('invalid_grant')
    expect((await introspect(authUrl, token.access_token)).body.active).toBe(true)
  })
})
