import { exportJWK, generateKeyPair, decodeJwt } from 'jose'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { privateKeyJwt, type PrivateKeyJwtOptions } from '@tokenwell/client-authentication'
import { clientCredentials } from '@tokenwell/core'
import { startTokenService } from '@tokenwell/token-service'
import { hasAuthlib, startAuthlib } from './servers/authlib.ts'
import { startOidcProvider } from './servers/oidc-provider.ts'

afterEach(() => void vi.useRealTimers())

async function createKey(algorithm: string) {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  return { key: privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid: 'key-1', alg: algorithm } }
}

const tokensOf = (
  server: { readonly tokenEndpoint: string } | { readonly authUrl: string },
  options: PrivateKeyJwtOptions,
) =>
  clientCredentials({
    ...server,
    clientId: 'orders',
    clientAuthentication: privateKeyJwt({ keyId: 'key-1', ...options }),
    maxAttempts: 1,
  })

describe.skipIf(!hasAuthlib)('Authlib', () => {
  it.each(['ES256', 'RS256'])(
    'accepts an assertion with %s for its token endpoint, each once',
    async (algorithm) => {
      const { key, publicJwk } = await createKey(algorithm)
      const tokens = tokensOf(await startAuthlib(publicJwk), { key })
      const first = await tokens.getToken()
      expect(first.value).not.toBe((await tokens.getToken({ forceRefresh: true })).value)
    },
  )

  it('rejects an assertion for another audience, which the error names', async () => {
    const { key, publicJwk } = await createKey('ES256')
    const server = await startAuthlib(publicJwk)
    await expect(
      tokensOf(server, { key, audience: 'https://other.example.com' }).getToken(),
    ).rejects.toMatchObject({
      kind: 'credentials',
      message: expect.stringContaining(
        'The assertion has the audience "https://other.example.com" and the key ID "key-1".',
      ),
    })
  })

  it('rejects an assertion from a clock that is 90 s behind, and the error names the skew', async () => {
    const { key, publicJwk } = await createKey('ES256')
    const tokens = tokensOf(await startAuthlib(publicJwk), { key })
    vi.useFakeTimers({ now: Date.now() - 90_000, toFake: ['Date'] })
    await expect(tokens.getToken()).rejects.toThrow(
      /This machine's clock is (?:89|9\d) s behind the server's\. Synchronise this machine's clock \(NTP\)\./,
    )
  })
})

if (!hasAuthlib) it.skip('Authlib needs: apt-get install python3-authlib python3-flask', () => {})

describe('the token service', () => {
  it.each(['ES256', 'RS256', 'PS256', 'EdDSA'])('accepts an assertion with %s', async (algorithm) => {
    const { key, publicJwk } = await createKey(algorithm)
    const service = await startTokenService({
      port: 0,
      applications: [
        { name: 'orders', clientId: 'orders', products: ['speech-to-text'], jwks: { keys: [publicJwk] } },
      ],
    })
    onTestFinished(() => service.close())
    const tokens = tokensOf(service, { key })
    await expect(tokens.getToken()).resolves.toMatchObject({ response: { apiProducts: ['speech-to-text'] } })
    await tokens.getToken({ forceRefresh: true })
    const other = await createKey(algorithm)
    await expect(tokensOf(service, { key: other.key }).getToken()).rejects.toMatchObject({
      kind: 'credentials',
    })
  })
})

it.each(['', '/tenants/one'])(
  'discovers oidc-provider with the path "%s", and addresses its issuer',
  async (path) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'key-1' }] }
    const provider = await startOidcProvider(
      { token_endpoint_auth_method: 'private_key_jwt', token_endpoint_auth_signing_alg: 'ES256', jwks },
      { path },
    )
    onTestFinished(() => provider.close())
    const clientAuthentication = privateKeyJwt({ key: privateKey, keyId: 'key-1' })
    const { issuer } = provider
    const tokens = clientCredentials({ issuer, clientId: 'client', clientAuthentication })
    await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
    const [form] = provider.tokenRequests()
    expect(decodeJwt(form!.get('client_assertion')!).aud).toBe(provider.issuer)
  },
)

it.each(['client_secret_post', 'client_secret_basic'] as const)('sends the secret as %s', async (method) => {
  const client = { client_secret: 'secret', token_endpoint_auth_method: method }
  const provider = await startOidcProvider(client, { methods: [method] })
  onTestFinished(() => provider.close())
  const { issuer } = provider
  const tokens = clientCredentials({ issuer, clientId: 'client', clientSecret: 'secret' })
  await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
})
