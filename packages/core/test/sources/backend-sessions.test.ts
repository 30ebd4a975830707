import { backendTokens, createMemoryTokenStore, createTokenProvider } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint } from '../support/scripted-endpoint.ts'

useFakeTime()

const url = 'https://app.example.com/token'
const sessionEnded = { status: 401, body: { error: 'no_session' } }

describe('a session that ended', () => {
  it.each([
    ['401', sessionEnded],
    ['a redirect to the login page', { status: 302, headers: { location: '/login' }, body: '' }],
  ])('by %s is reported immediately and starts no cooldown', async (_name, response) => {
    const endpoint = new ScriptedEndpoint(response)
    const tokens = createTokenProvider(backendTokens({ url, fetch: endpoint.fetch }))
    for (let call = 1; call <= 5; call++) {
      await expect(tokens.getToken()).rejects.toMatchObject({
        kind: 'credentials',
        status: response.status,
        message: 'The backend returned no token: the session has ended. Log in again.',
      })
      expect(endpoint.requests).toHaveLength(call)
    }
    endpoint.script = {}
    await expect(tokens.getToken()).resolves.toBeDefined()
  })

  it('is assumed after an opaque redirect in a browser', async () => {
    const send = () =>
      Promise.resolve({ status: 0, headers: new Headers(), text: () => Promise.resolve('') } as Response)
    const tokens = createTokenProvider(backendTokens({ url, fetch: send }))
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
  })

  it('does not affect a token that is still valid', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { expiresIn: 100 } : sessionEnded))
    const tokens = createTokenProvider(backendTokens({ url, fetch: endpoint.fetch }))
    await tokens.getToken()
    await pass(90_000)
    for (let second = 0; second < 4; second++) {
      expect((await tokens.getToken()).value).toBe('token-1')
      await pass(1_000)
    }
    await pass(10_000)
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
  })

  it('does not leave its token to the next session, not even in a store', async () => {
    const store = createMemoryTokenStore()
    const endpoint = new ScriptedEndpoint(sessionEnded)
    const source = backendTokens({ url, fetch: endpoint.fetch })
    const before = await source.cacheKey()
    const tokens = createTokenProvider(source, { store })
    await tokens.getToken().catch(() => {})
    expect(await source.cacheKey()).not.toBe(before)
    endpoint.script = {}
    await expect(tokens.getToken()).resolves.toBeDefined()
    expect(await store.read(before)).not.toHaveProperty('response')
  })

  it('has a different cache key for each user', async () => {
    const keys = await Promise.all(
      ['a', 'b'].map((user) => backendTokens({ url, headers: () => ({ user }) }).cacheKey()),
    )
    expect(keys[0]).not.toBe(keys[1])
  })
})
