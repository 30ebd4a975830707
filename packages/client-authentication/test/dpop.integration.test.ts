import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dpop, type DpopOptions } from '@tokenwell/client-authentication/dpop'
import {
  clientCredentials,
  createMemoryTokenStore,
  createTokenFetch,
  createTokenPool,
  createTokenProvider,
  type TokenBinding,
  type TokenEvent,
} from '@tokenwell/core'
import {
  createTokenVerifier,
  TokenVerificationError,
  type TokenVerifierOptions,
} from '@tokenwell/resource-server'
import { json, startScriptedServer, type ScriptedServer } from '@tokenwell/internal-testing'
import { decodeJwt, decodeProtectedHeader, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startOidcProvider, type OidcProvider } from './servers/oidc-provider.ts'

const credentials = { clientId: 'client', clientSecret: 'secret' }

async function startProvider(): Promise<OidcProvider> {
  const provider = await startOidcProvider(
    {
      client_secret: 'secret',
      token_endpoint_auth_method: 'client_secret_post',
      dpop_bound_access_tokens: true,
    },
    { requireNonce: true },
  )
  onTestFinished(() => provider.close())
  return provider
}

function start({ tokenEndpoint }: { readonly tokenEndpoint: string }, binding: TokenBinding) {
  const events: TokenEvent[] = []
  const tokens = clientCredentials({
    tokenEndpoint,
    ...credentials,
    binding,
    maxAttempts: 1,
    onEvent: (event) => events.push(event),
  })
  return { tokens, events, requested: () => events.filter(({ type }) => type === 'token_requested').length }
}

async function startScripted(respond: ScriptedServer['respond']) {
  const server = await startScriptedServer(respond)
  onTestFinished(() => server.close())
  return Object.assign(server, { tokenEndpoint: `${server.origin}/token` })
}

const bound = () => json({ access_token: 'token', token_type: 'DPoP', expires_in: 3_600 })
const proofOf = ({ headers }: { readonly headers: object }) => String((headers as { dpop: unknown }).dpop)

describe('dpop', () => {
  it.each<[string, () => Promise<DpopOptions['keyPair']>]>([
    ['its own key', async () => undefined],
    ['a CryptoKeyPair', () => generateKeyPair('ES256')],
    ['a JWK', async () => exportJWK((await generateKeyPair('EdDSA', { extractable: true })).privateKey)],
    ['PEM', async () => exportPKCS8((await generateKeyPair('ES256', { extractable: true })).privateKey)],
    ['an RSA key', () => generateKeyPair('PS256')],
  ])(
    'gets a token from oidc-provider and calls an API, both with nonces, using %s',
    async (_name, createKey) => {
      const provider = await startProvider()
      const introspection = { introspectionUrl: `${provider.issuer}/token/introspection`, ...credentials }
      const api = await startNonceApi({
        introspection: { ...introspection, clientAuthentication: 'client_secret_post' },
      })
      const { tokens, requested } = start(provider, dpop({ keyPair: await createKey() }))
      const send = createTokenFetch(tokens, { allowedOrigins: [api.origin] })
      for (const expected of [2, 3]) {
        const response = await send(`${api.origin}/orders?page=1#top`, { method: 'POST', body: 'text' })
        expect([response.status, await response.text()]).toEqual([200, 'accepted'])
        expect(api.proofs).toHaveLength(expected)
      }
      expect(requested()).toBe(1)
      expect(provider.tokenRequests()).toHaveLength(2)
      // The nonce is known now.
      await tokens.getToken({ forceRefresh: true })
      expect(provider.tokenRequests()).toHaveLength(3)
    },
  )

  it('states method, URL without query, time and token in a new proof for each request', async () => {
    const server = await startScripted(() => bound())
    const { tokens } = start(server, dpop())
    const send = createTokenFetch(tokens, { allowedOrigins: [server.origin] })
    await send(`${server.origin}/a%20b?c=d#e`)
    await send(`${server.origin}/a%20b?c=d#e`, { method: 'put' })
    const [first, second, third] = server.requests.map(proofOf)
    const { iat = 0, jti, ...claims } = decodeJwt(first!)
    expect(claims).toEqual({ htm: 'POST', htu: server.tokenEndpoint })
    expect(Math.abs(Date.now() / 1000 - iat)).toBeLessThan(30)
    expect(decodeProtectedHeader(first!)).toEqual({
      typ: 'dpop+jwt',
      alg: 'ES256',
      jwk: { kty: 'EC', crv: 'P-256', x: expect.any(String), y: expect.any(String) },
    })
    const ath = createHash('sha256').update('token').digest('base64url')
    expect(decodeJwt(second!)).toMatchObject({ htm: 'GET', htu: `${server.origin}/a%20b`, ath })
    expect(decodeJwt(third!)).toMatchObject({ htm: 'PUT', htu: `${server.origin}/a%20b`, ath })
    expect(new Set([jti, decodeJwt(second!).jti, decodeJwt(third!).jti]).size).toBe(3)
    expect(server.requests[1]!.headers.authorization).toBe('DPoP token')
  })

  it('repeats a token request only once, however often a nonce is required', async () => {
    let count = 0
    const server = await startScripted(() =>
      json({ error: 'use_dpop_nonce' }, 400, { 'dpop-nonce': `nonce-${++count}` }),
    )
    const { tokens, requested } = start(server, dpop())
    await expect(tokens.getToken()).rejects.toMatchObject({ oauthError: 'use_dpop_nonce' })
    expect(server.requests).toHaveLength(2)
    expect(decodeJwt(proofOf(server.requests[1]!))['nonce']).toBe('nonce-1')
    expect(requested()).toBe(1)
  })

  it('uses the nonce in the response to a repeated token request', async () => {
    let count = 0
    const server = await startScripted(() => {
      const headers = { 'dpop-nonce': `nonce-${++count}` }
      if (count === 1) return json({ error: 'use_dpop_nonce' }, 400, headers)
      return json({ access_token: 'token', token_type: 'DPoP' }, 200, headers)
    })
    const { tokens } = start(server, dpop())
    await tokens.getToken()
    await tokens.getToken({ forceRefresh: true })
    expect(server.requests.map((request) => decodeJwt(proofOf(request))['nonce'])).toEqual([
      undefined,
      'nonce-1',
      'nonce-2',
    ])
  })

  it('does not repeat a request that lacks a nonce which the server does not send', async () => {
    const server = await startScripted(() => json({ error: 'use_dpop_nonce' }, 400))
    await expect(start(server, dpop()).tokens.getToken()).rejects.toMatchObject({ status: 400 })
    expect(server.requests).toHaveLength(1)
  })

  it('uses the nonce of a successful token response', async () => {
    const server = await startScripted(() =>
      json({ access_token: 'token', token_type: 'DPoP' }, 200, { 'dpop-nonce': 'n' }),
    )
    const { tokens } = start(server, dpop())
    await tokens.getToken()
    await tokens.getToken({ forceRefresh: true })
    expect(server.requests.map((request) => decodeJwt(proofOf(request))['nonce'])).toEqual([undefined, 'n'])
  })

  it('remembers the nonces of 100 origins', async () => {
    const binding = dpop()
    const url = (index: number) => new URL(`https://api-${index}.example.com/`)
    for (let index = 0; index <= 100; index++) binding.receive(url(index), { 'DPoP-Nonce': `nonce-${index}` })
    const nonceAt = async (index: number) =>
      decodeJwt((await binding.prove({ method: 'GET', url: url(index), accessToken: 'token' }))['DPoP']!)[
        'nonce'
      ]
    expect([await nonceAt(0), await nonceAt(1), await nonceAt(100)]).toEqual([
      undefined,
      'nonce-1',
      'nonce-100',
    ])
  })

  it.each([
    ['Bearer', 'issued a Bearer token instead of a DPoP token. Omit binding', dpop()],
    ['DPoP', 'issued a DPoP token instead of a Bearer token. Set binding: dpop().', undefined],
  ])('rejects a %s token that was not requested', async (token_type, message, binding) => {
    const server = await startScripted(() => json({ access_token: 'token', token_type }))
    await expect(start(server, binding!).tokens.getToken()).rejects.toMatchObject({
      kind: 'malformed',
      message: expect.stringContaining(message),
    })
  })

  it('sends no bound token without its key', async () => {
    const api = await startScripted(() => json({}))
    const tokens = createTokenProvider({
      cacheKey: async () => 'key',
      requestToken: async () => ({ accessToken: 'token', tokenType: 'DPoP', scope: [] }),
    })
    await expect(
      createTokenFetch(tokens, { allowedOrigins: [api.origin] })(api.origin),
    ).rejects.toMatchObject({
      kind: 'configuration',
      message: 'The token is bound to a key (DPoP), but its source has no binding. Set binding: dpop().',
    })
    expect(api.requests).toEqual([])
  })

  it('shares tokens through a store only with a shared key', async () => {
    const server = await startScripted(() => bound())
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const keyPair = await exportJWK(privateKey)
    const store = createMemoryTokenStore()
    const tokens = (binding: TokenBinding) => clientCredentials({ ...server, ...credentials, binding, store })
    const values = async (binding: TokenBinding) => (await tokens(binding).getToken()).value
    expect([await values(dpop({ keyPair })), await values(dpop({ keyPair }))]).toEqual(['token', 'token'])
    expect(server.requests).toHaveLength(1)
    await values(dpop({ keyPair: await generateKeyPair('ES256') }))
    expect(server.requests).toHaveLength(2)

    const message =
      'A shared token store requires a key that all processes have. Pass the same keyPair to dpop() in each of them.'
    const unshared = () => tokens(dpop())
    expect(unshared).toThrow(message)
    await expect(createTokenPool(unshared).for('key').getToken()).rejects.toThrow(message)
  })

  it('names a clock that is off if the server rejects a proof', async () => {
    const server = await startScripted(() => {
      const date = new Date(Date.now() - 90_000).toUTCString()
      return json({ error: 'invalid_dpop_proof' }, 400, { date })
    })
    await expect(start(server, dpop()).tokens.getToken()).rejects.toThrow(
      /This machine's clock is (89|90|91) s ahead of the server's\. Synchronise this machine's clock \(NTP\)\./,
    )
  })

  it.each([
    ['text', 'secret', 'key is not PEM text'],
    ['a public JWK', { kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }, 'key is a public or symmetric JWK'],
    ['half a pair', { privateKey: {} }, 'keyPair.publicKey must be a public CryptoKey'],
  ])('rejects %s as a key pair', async (_name, keyPair, message) => {
    const server = await startScripted(() => bound())
    await expect(start(server, dpop({ keyPair: keyPair as never })).tokens.getToken()).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
    expect(server.requests).toEqual([])
  })
})

/** An API whose verifier checks proofs, and which requires a nonce in them (RFC 9449, section 9). */
async function startNonceApi(options: TokenVerifierOptions) {
  const api = { origin: '', nonce: 'first-nonce', proofs: [] as string[] }
  const verifier = createTokenVerifier(options)
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const { method = '', url = '', headers } = request
    const proof = String(headers['dpop'])
    api.proofs.push(proof)
    request.resume()
    if (headers['dpop'] && decodeJwt(proof)['nonce'] !== api.nonce) {
      const challenge = { 'www-authenticate': 'DPoP error="use_dpop_nonce"', 'dpop-nonce': api.nonce }
      return response.writeHead(401, challenge).end()
    }
    try {
      const verified = { method, url: api.origin + url, dpop: headers['dpop'] as string }
      await verifier.verify(headers.authorization, { request: verified })
      response.writeHead(200, { 'dpop-nonce': api.nonce }).end('accepted')
    } catch (error) {
      if (!(error instanceof TokenVerificationError)) throw error
      response.writeHead(error.status, error.headers).end(JSON.stringify(error.body))
    }
  }
  const server = createServer((request, response) => void respond(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  )
  api.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return api
}
