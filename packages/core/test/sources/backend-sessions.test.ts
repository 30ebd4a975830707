import { backendTokens, createMemoryTokenStore } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { observeKeys } from '../support/observe-keys.ts'
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
    const tokens = backendTokens({ url, fetch: endpoint.fetch })
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
    const tokens = backendTokens({ url, fetch: send })
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
  })

  it('does not affect a token that is still valid', async () => {
    const endpoint = new ScriptedEndpoint((request) => (request === 1 ? { expiresIn: 100 } : sessionEnded))
    const tokens = backendTokens({ url, fetch: endpoint.fetch })
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
    const { keys, ...observed } = observeKeys(store)
    const tokens = backendTokens({ url, fetch: endpoint.fetch, store: observed })
    await tokens.getToken().catch(() => {})
    endpoint.script = {}
    await expect(tokens.getToken()).resolves.toBeDefined()
    expect(keys.size).toBe(2)
    const [before] = keys
    expect(await store.read(before!)).not.toHaveProperty('response')
  })

  it('has a different cache key for each user', async () => {
    const { fetch } = new ScriptedEndpoint()
    const { keys, ...store } = observeKeys()
    for (const user of ['a', 'b']) {
      await backendTokens({ url, fetch, headers: () => ({ user }), store }).getToken()
    }
    expect(keys.size).toBe(2)
  })
})
