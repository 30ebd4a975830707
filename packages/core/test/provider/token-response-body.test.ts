import { describe, expect, it } from 'vitest'
import { backendTokens, createTokenProvider, tokenResponseBody } from '@tokenwell/core'
import { parseTokenResponse } from '@tokenwell/core/protocol'
import { pass, setWallClock, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()

async function tokenOf(expiresIn: number) {
  const body = { access_token: 'token', token_type: 'Bearer', expires_in: expiresIn, refresh_token: 'canary' }
  return createTokenProvider(sourceOf(new ScriptedEndpoint({ body }))).getToken()
}

describe('the response of a backend to its frontend', () => {
  it('contains only the token and its remaining lifetime', async () => {
    const token = await tokenOf(100)
    await pass(30_500)
    expect(tokenResponseBody(token)).toEqual({ access_token: 'token', token_type: 'Bearer', expires_in: 69 })
  })

  it('can be read back', async () => {
    const body = JSON.stringify(tokenResponseBody(await tokenOf(100)))
    expect(parseTokenResponse(200, {}, body)).toMatchObject({ accessToken: 'token', expiresIn: 100 })
  })

  it('states zero in the last second and afterwards, and the frontend uses the token for a second', async () => {
    const token = await tokenOf(100)
    await pass(99_001)
    expect(tokenResponseBody(token).expires_in).toBe(0)
    await pass(60_000)
    const body = tokenResponseBody(token)
    expect(body.expires_in).toBe(0)
    const tokens = backendTokens({
      url: 'https://app.example.com/token',
      fetch: new ScriptedEndpoint({ body }).fetch,
    })
    expect((await tokens.getToken()).expiresAt.getTime()).toBe(Date.now() + 1_000)
  })

  it('does not state a longer lifetime after the wall clock was set back, but a shorter one after sleep', async () => {
    const token = await tokenOf(100)
    await pass(60_000)
    setWallClock(-3_600_000)
    expect(tokenResponseBody(token).expires_in).toBe(40)
    setWallClock(3_600_000 + 30_000)
    expect(tokenResponseBody(token).expires_in).toBe(10)
  })

  it('uses the wall clock for a token of another source', () => {
    const expiresAt = new Date(Date.now() + 5_000)
    const response = { accessToken: 'own', tokenType: 'Bearer', scope: [] } as const
    expect(tokenResponseBody({ value: 'own', tokenType: 'Bearer', expiresAt, response })).toEqual({
      access_token: 'own',
      token_type: 'Bearer',
      expires_in: 5,
    })
  })
})
