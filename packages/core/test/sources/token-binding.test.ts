import { expect, it, vi } from 'vitest'
import {
  createMemoryTokenStore,
  createTokenFetch,
  createTokenProvider,
  type TokenBinding,
} from '@tokenwell/core'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

const binding = (): TokenBinding => ({
  tokenType: 'DPoP',
  checkShareable: () => {},
  fingerprint: () => 'the-key',
  send: (tokenEndpoint, send) => send({ proof: `for ${tokenEndpoint.href}` }),
  prove: async ({ method, url, accessToken }) => ({ proof: `${method} ${url.href} ${accessToken}` }),
  receive: () => false,
})
const body = { access_token: 'bound', token_type: 'DPoP', expires_in: 3_600 }

it('sends a bound token, and the request for it, with a proof', async () => {
  const endpoint = new ScriptedEndpoint({ body })
  const tokens = createTokenProvider(sourceOf(endpoint, { binding: binding() }))
  const sent: Headers[] = []
  const tokenFetch = createTokenFetch(tokens, {
    allowedOrigins: ['https://api.example.com'],
    fetch: async (_input, init) => {
      sent.push(new Headers(init?.headers))
      return new Response()
    },
  })
  await tokenFetch('https://api.example.com/orders', { method: 'PUT' })
  expect(endpoint.requests[0]?.headers['proof']).toBe('for https://auth.example.com/token')
  expect(Object.fromEntries(sent[0]!)).toEqual({
    authorization: 'DPoP bound',
    proof: 'PUT https://api.example.com/orders bound',
  })
})

it('fails if the endpoint issues a token without the binding', async () => {
  const source = sourceOf(new ScriptedEndpoint(), { binding: binding() })
  await expect(createTokenProvider(source).getToken()).rejects.toMatchObject({
    kind: 'malformed',
    message: expect.stringContaining(
      'issued a Bearer token instead of a DPoP token. Omit binding if the endpoint does not support DPoP.',
    ) as string,
  })
})

it('sends a request again, once, if the API has sent a new nonce', async () => {
  const tokens = createTokenProvider(
    sourceOf(new ScriptedEndpoint({ body }), { binding: { ...binding(), receive: () => true } }),
  )
  const fetch = vi.fn(async () => new Response('', { status: 401 }))
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: ['https://api.example.com'], fetch })
  expect((await tokenFetch('https://api.example.com/orders')).status).toBe(401)
  expect(fetch).toHaveBeenCalledTimes(2)
})

it('shares bound tokens only between processes with the same key', async () => {
  const checkShareable = vi.fn()
  const own = { ...binding(), checkShareable }
  const source = sourceOf(new ScriptedEndpoint({ body }), { binding: own })
  createTokenProvider(source)
  expect(checkShareable).not.toHaveBeenCalled()
  createTokenProvider(source, { store: createMemoryTokenStore() })
  expect(checkShareable).toHaveBeenCalledOnce()
  const other = sourceOf(new ScriptedEndpoint(), { binding: { ...own, fingerprint: () => 'another-key' } })
  const bearer = sourceOf(new ScriptedEndpoint())
  const keys = await Promise.all([source, other, bearer].map((each) => each.cacheKey()))
  expect(new Set(keys).size).toBe(3)
})
