import { createTokenFetch, createTokenProvider, type TokenBinding } from '@tokenwell/core'
import { createTokenAttacher } from '@tokenwell/core/adapter'
import { expect, it, vi } from 'vitest'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

const api = 'https://api.example.com'
const body = { access_token: 'bound', token_type: 'DPoP', expires_in: 3600 }

it('learns nonces from every response, and leaves redirects to the caller, whose proof would not fit', async () => {
  const receive = vi.fn(() => false)
  const binding: TokenBinding = {
    tokenType: 'DPoP',
    checkShareable() {},
    fingerprint: () => 'key',
    send: (_url, send) => send({}),
    prove: async ({ url }) => ({ dpop: `proof for ${url}` }),
    receive,
  }
  const tokens = createTokenProvider(sourceOf(new ScriptedEndpoint({ body }), { binding }))
  const fetch = vi.fn(async () => new Response('', { headers: { 'dpop-nonce': 'next' } }))
  const tokenFetch = createTokenFetch(tokens, { allowedOrigins: [api], fetch })
  for (let call = 0; call < 2; call += 1) await tokenFetch(`${api}/orders`)
  expect(fetch).toHaveBeenLastCalledWith(`${api}/orders`, {
    headers: { Authorization: 'DPoP bound', dpop: `proof for ${api}/orders` },
    redirect: 'manual',
  })
  expect(receive).toHaveBeenCalledTimes(2)
  expect(receive).toHaveBeenLastCalledWith(new URL(`${api}/orders`), expect.any(Headers))
})

it('explains what is missing if the source of a bound token has no binding', async () => {
  const tokens = createTokenProvider({
    cacheKey: async () => 'key',
    requestToken: async () => ({ accessToken: 'bound', tokenType: 'DPoP', scope: [], expiresIn: 3600 }),
  })
  const attacher = createTokenAttacher(tokens, { allowedOrigins: [api] })
  await expect(attacher.attach({ method: 'GET', url: api })).rejects.toMatchObject({
    kind: 'configuration',
    message: 'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
  })
})
