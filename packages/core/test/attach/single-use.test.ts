import { createTokenFetch, createTokenPool, type TokenProvider } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { pass, useFakeTime, watch } from '../support/fake-time.ts'
import { ScriptedEndpoint, tokensOf } from '../support/scripted-endpoint.ts'

useFakeTime()

const api = 'https://api.example.com'

function start(create: (endpoint: ScriptedEndpoint) => TokenProvider) {
  const endpoint = new ScriptedEndpoint({ latencyMs: 1_000 })
  const sent: (string | null)[] = []
  const tokenFetch = createTokenFetch(create(endpoint), {
    allowedOrigins: [api],
    fetch: async (input, init) => {
      sent.push(new Request(input, init).headers.get('authorization'))
      return new Response()
    },
  })
  const upload = (signal: AbortSignal | null = null) =>
    watch(tokenFetch(api, { method: 'POST', body: new Blob(['body']).stream(), duplex: 'half', signal }))
  return { endpoint, sent, upload }
}

describe.each([
  ['a provider', (endpoint: ScriptedEndpoint) => tokensOf(endpoint)],
  [
    'a key of a pool',
    (endpoint: ScriptedEndpoint) => createTokenPool((_key: string) => tokensOf(endpoint)).for('a'),
  ],
])('a request that cannot be sent again, with the tokens of %s', (_name, create) => {
  it('waits for its token', async () => {
    const { sent, upload } = start(create)
    const call = upload()
    await pass(1_000)
    expect(call.value?.status).toBe(200)
    expect(sent).toEqual(['Bearer token-1'])
  })

  it('is sent at once with a token that is due for a refresh', async () => {
    const { endpoint, sent, upload } = start(create)
    endpoint.script = { expiresIn: 100 }
    const first = upload()
    await pass(0)
    expect(first.state).toBe('resolved')
    await pass(90_000)
    endpoint.script = { latencyMs: 1_000 }
    const second = upload()
    await pass(0)
    expect(second.state).toBe('resolved')
    expect(sent).toEqual(['Bearer token-1', 'Bearer token-1'])
  })

  it('is sent with a token that was rejected if there is no other, and fails if there is none', async () => {
    const endpoint = new ScriptedEndpoint()
    const tokens = tokensOf(endpoint)
    const rejected = await tokens.getToken()
    const sent: (string | null)[] = []
    const tokenFetch = createTokenFetch(tokens, {
      allowedOrigins: [api],
      fetch: async (_input, init) => {
        sent.push(new Headers(init?.headers).get('authorization'))
        return new Response()
      },
    })
    const upload = () =>
      tokenFetch(api, { method: 'POST', body: new Blob(['body']).stream(), duplex: 'half' })
    tokens.reject(rejected)
    endpoint.script = { status: 401, latencyMs: 1_000 }
    const call = watch(upload())
    await pass(1_000)
    expect(call.value?.status).toBe(200)
    expect(sent).toEqual(['Bearer token-1'])
    await pass(60_000)
    const closing = watch(upload())
    await pass(10)
    await tokens.close()
    await pass(0)
    expect(closing).toMatchObject({ state: 'rejected', error: { kind: 'aborted' } })
  })

  it('can be aborted while it waits, which cancels the token request', async () => {
    const { endpoint, sent, upload } = start(create)
    const controller = new AbortController()
    const call = upload(controller.signal)
    await pass(10)
    controller.abort('left')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'left' })
    expect(endpoint.cancelled).toBe(1)
    await pass(1_000)
    expect(sent).toEqual([])
  })
})
