import { describe, expect, it } from 'vitest'
import { application, basic, introspect, postForm, requestToken, testService } from '../test-service.ts'

describe('revocation', () => {
  it('ends a token at once, and says yes to one it does not know', async () => {
    const { authUrl } = await testService()
    const { body: token } = await requestToken(authUrl)
    const form = { token: token.access_token }
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
    expect((await introspect(authUrl, token.access_token)).body).toEqual({ active: false })
    expect((await postForm(`${authUrl}/oauth/revoke`, form, basic(application))).status).toBe(200)
  })

  it("leaves another client's token alone", async () => {
    const other = { ...application, clientId: 'other', clientSecret: 'other-secret-0123456789' }
    const { authUrl } = await testService({ applications: [application, other] })
    const { body: token } = await requestToken(authUrl)
    const answer = await postForm(`${authUrl}/oauth/revoke`, { token: token.access_token }, basic(other))
    expect(answer.status).toBe(400)
    expect(answer.body.error).toBe('invalid_grant')
    expect((await introspect(authUrl, token.access_token)).body.active).toBe(true)
  })
})
