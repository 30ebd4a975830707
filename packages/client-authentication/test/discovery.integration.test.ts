import { privateKeyJwt } from '@tokenwell/client-authentication'
import { clientCredentials, createTokenProvider, discover } from '@tokenwell/core'
import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import { expect, it, onTestFinished } from 'vitest'
import { startOidcProvider } from './servers/oidc-provider.ts'

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
    const issuer = discover(provider.issuer)
    const tokens = createTokenProvider(
      clientCredentials({ issuer, clientId: 'client', clientAuthentication }),
    )
    await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
    const [form] = provider.tokenRequests()
    expect(decodeJwt(form!.get('client_assertion')!).aud).toBe(provider.issuer)
  },
)

it.each(['client_secret_post', 'client_secret_basic'] as const)('sends the secret as %s', async (method) => {
  const client = { client_secret: 'secret', token_endpoint_auth_method: method }
  const provider = await startOidcProvider(client, { methods: [method] })
  onTestFinished(() => provider.close())
  const issuer = discover(provider.issuer)
  const tokens = createTokenProvider(
    clientCredentials({ issuer, clientId: 'client', clientSecret: 'secret' }),
  )
  await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
})
