import { createHash, createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { clientCredentials, type TokenError } from '@tokenwell/core'
import { privateKeyJwt, type PrivateKeyJwtOptions } from '@tokenwell/client-authentication'
import { expectNoSecrets } from '@tokenwell/internal-testing'
import { decodeJwt, decodeProtectedHeader, exportJWK, exportPKCS8, generateKeyPair, type JWK } from 'jose'
import { generate } from 'selfsigned'
import { describe, expect, it, onTestFinished } from 'vitest'
import { startOidcProvider, type OidcProvider } from './servers/oidc-provider.ts'

async function keyPair(algorithm: string) {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const publicJwk: JWK = { ...(await exportJWK(publicKey)), kid: 'key-1', alg: algorithm, use: 'sig' }
  return {
    privateKey,
    pem: await exportPKCS8(privateKey),
    jwk: { ...(await exportJWK(privateKey)), kid: 'key-1' },
    publicJwk,
  }
}

async function start(algorithm: string, publicJwk: JWK): Promise<OidcProvider> {
  const provider = await startOidcProvider({
    token_endpoint_auth_method: 'private_key_jwt',
    token_endpoint_auth_signing_alg: algorithm as 'ES256',
    jwks: { keys: [publicJwk] },
  })
  onTestFinished(() => provider.close())
  return provider
}

const tokensOf = ({ tokenEndpoint }: { tokenEndpoint: string }, options: PrivateKeyJwtOptions) =>
  clientCredentials({
    tokenEndpoint,
    clientId: 'client',
    clientAuthentication: privateKeyJwt(options),
    maxAttempts: 1,
  })

describe('privateKeyJwt', () => {
  it.each(['ES256', 'ES384', 'ES512', 'RS256', 'PS256', 'EdDSA'])(
    'gets a token from oidc-provider with a key for %s',
    async (algorithm) => {
      const { privateKey, pem, jwk, publicJwk } = await keyPair(algorithm)
      const provider = await start(algorithm, publicJwk)
      // PEM does not state the algorithm of an RSA key.
      const given = algorithm === 'PS256' ? { algorithm } : {}
      for (const options of [
        { key: privateKey, keyId: 'key-1' },
        { key: pem, keyId: 'key-1', ...given },
        { key: { ...jwk, alg: algorithm } },
      ]) {
        const token = await tokensOf(provider, options).getToken()
        expect(token.response).toMatchObject({ tokenType: 'Bearer' })
        const assertion = provider.requests.at(-1)!.get('client_assertion')!
        expect(decodeProtectedHeader(assertion)).toEqual({ alg: algorithm, kid: 'key-1', typ: 'JWT' })
      }
    },
  )

  describe('with a certificate', () => {
    const subject = [{ name: 'commonName', value: 'orders' }]
    /** As `openssl pkcs12 -nodes` writes them. */
    const attributes = 'Bag Attributes\n    friendlyName: orders\nKey Attributes: <No Attributes>\n'
    const createCertificate = async () => {
      const { private: privateKey, cert } = await generate(subject, { keySize: 2048, algorithm: 'sha256' })
      const key = createPrivateKey(privateKey).export({ type: 'pkcs8', format: 'pem' }).toString()
      const thumbprint = createHash('sha256').update(new X509Certificate(cert).raw).digest('base64url')
      return { key, cert, thumbprint }
    }
    const headerOf = async (options: PrivateKeyJwtOptions) => {
      const { publicJwk } = await keyPair('ES256')
      const provider = await start('ES256', publicJwk)
      await tokensOf(provider, options)
        .getToken()
        .catch(() => {})
      return decodeProtectedHeader(provider.requests.at(-1)!.get('client_assertion')!)
    }

    it('sends the thumbprint of the one that belongs to the key, in any order of a PEM file', async () => {
      const [own, ofIssuer] = [await createCertificate(), await createCertificate()]
      const header = { alg: 'PS256', typ: 'JWT', 'x5t#S256': own.thumbprint }
      const files = [
        attributes + own.key + attributes + own.cert,
        `${attributes}${ofIssuer.cert}\n${own.cert}\n${attributes}${own.key}`,
      ]
      for (const pem of files) {
        expect(await headerOf({ key: pem, certificate: pem, algorithm: 'PS256' })).toEqual(header)
      }
      expect(await headerOf({ key: own.key, certificate: async () => own.cert, algorithm: 'PS256' })).toEqual(
        header,
      )
      // Without the option, nothing is sent: a server may not know it.
      expect(await headerOf({ key: files[0]! })).toEqual({ alg: 'RS256', typ: 'JWT' })
    })

    it('sends the thumbprint of a JWK', async () => {
      const { jwk } = await keyPair('PS256')
      const key = { ...jwk, 'x5t#S256': 'thumbprint' }
      expect(await headerOf({ key, algorithm: 'PS256' })).toMatchObject({ 'x5t#S256': 'thumbprint' })
    })

    it.each([
      ['of another key', async () => (await createCertificate()).cert, 'certificate is not that of the key.'],
      ['that is a key', async () => (await createCertificate()).key, 'certificate is not PEM text'],
      ['that is missing', async () => '', 'certificate is not PEM text'],
    ])('does not request a token with one %s', async (_which, certificate, message) => {
      const { key } = await createCertificate()
      const { publicJwk } = await keyPair('ES256')
      const provider = await start('ES256', publicJwk)
      const tokens = tokensOf(provider, { key, certificate: await certificate() })
      await expect(tokens.getToken()).rejects.toMatchObject({
        kind: 'configuration',
        message: expect.stringContaining(message),
      })
    })
  })

  it('signs one assertion for 1,000 callers, with the claims of RFC 7523', async () => {
    const { jwk, publicJwk } = await keyPair('ES256')
    const provider = await start('ES256', publicJwk)
    const tokens = tokensOf(provider, { key: jwk })
    await Promise.all(Array.from({ length: 1_000 }, () => tokens.getToken()))
    expect(provider.requests).toHaveLength(1)
    const assertion = provider.requests[0]!.get('client_assertion')!
    expect(decodeProtectedHeader(assertion)).toEqual({ alg: 'ES256', kid: 'key-1', typ: 'JWT' })
    const { iat = 0, ...claims } = decodeJwt(assertion)
    expect(Math.abs(Date.now() / 1000 - iat)).toBeLessThan(30)
    expect(claims).toEqual({
      iss: 'client',
      sub: 'client',
      aud: provider.tokenEndpoint,
      exp: iat + 60,
      jti: expect.any(String),
    })
    expect(provider.requests[0]!.get('client_secret')).toBeNull()
  })

  it('creates a new assertion for each attempt', async () => {
    const { jwk, publicJwk } = await keyPair('ES256')
    const provider = await start('ES256', publicJwk)
    const tokens = tokensOf(provider, { key: jwk, audience: provider.issuer })
    await tokens.getToken()
    await tokens.getToken({ forceRefresh: true })
    const assertions = provider.requests.map((form) => decodeJwt(form.get('client_assertion')!))
    expect(new Set(assertions.map(({ jti }) => jti)).size).toBe(2)
    expect(assertions[0]!.aud).toBe(provider.issuer)
  })

  it('uses a replaced key at once, although the old one was rejected', async () => {
    const old = await keyPair('ES256')
    const { jwk, publicJwk } = await keyPair('ES256')
    const provider = await start('ES256', publicJwk)
    let key: JWK = old.jwk
    const tokens = tokensOf(provider, { key: () => key })
    const error = (await tokens.getToken().catch((thrown: unknown) => thrown)) as TokenError
    expect(error.kind).toBe('credentials')
    const assertion = provider.requests[0]!.get('client_assertion')!
    expectNoSecrets(error, [old.jwk.d!, assertion])
    key = jwk
    await expect(tokens.getToken()).resolves.toMatchObject({ value: expect.any(String) })
    expect(provider.requests).toHaveLength(2)
  })

  it('identifies the key in any format, without revealing it', async () => {
    const { privateKey, pem, jwk } = await keyPair('ES256')
    const prints = await Promise.all(
      [privateKey, pem, jwk].map(async (key) => privateKeyJwt({ key }).fingerprint()),
    )
    expect(new Set(prints).size).toBe(1)
    expect(prints[0]).not.toContain(jwk.d)
    const other = await keyPair('ES256')
    expect(await privateKeyJwt({ key: other.pem }).fingerprint()).not.toBe(prints[0])
  })

  it.each<[string, (pair: Awaited<ReturnType<typeof keyPair>>) => unknown, string]>([
    ['a public JWK', ({ publicJwk }) => publicJwk, 'key is a public or symmetric JWK'],
    ['text', () => 'secret', 'key is not PEM text'],
    [
      'a truncated PEM',
      ({ pem }) => pem.slice(0, 100),
      'key is incomplete: its last line, -----END PRIVATE KEY-----, is missing.',
    ],
    [
      'a public key in PEM',
      () => '-----BEGIN PUBLIC KEY-----\n',
      'key contains "PUBLIC KEY". A private key is needed to sign.',
    ],
    [
      'a key of another PEM form',
      ({ privateKey: _key, pem }) => createPrivateKey(pem).export({ type: 'sec1', format: 'pem' }),
      'openssl pkcs8 -topk8',
    ],
    [
      'a broken PEM',
      () => '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----',
      'key cannot be used for',
    ],
    [
      'a PEM with line breaks written as two characters',
      ({ pem }) => pem.replaceAll('\n', String.raw`\n`),
      String.raw`It contains \n as two characters: replace them by line breaks`,
    ],
    ['a PEM in quotation marks', ({ pem }) => `"${pem}"`, 'It is in quotation marks: remove them.'],
    [
      'an encrypted PEM',
      () => '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----',
      'It is encrypted. Decrypt it: openssl pkcs8 -topk8 -nocrypt',
    ],
    [
      'a KeyObject of Node',
      ({ pem }) => createPrivateKey(pem),
      "key is a KeyObject of node:crypto. Pass PEM text: key.export({ type: 'pkcs8', format: 'pem' }).",
    ],
    [
      'an RSA key of 1,024 bits',
      () =>
        generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey.export({
          type: 'pkcs8',
          format: 'pem',
        }),
      'key is an RSA key of 1024 bits; at least 2048 are required.',
    ],
    [
      'an RSA key of 1,024 bits as JWK',
      () => generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey.export({ format: 'jwk' }),
      'key is an RSA key of 1024 bits; at least 2048 are required.',
    ],
    ['nothing', () => undefined, 'key must be a CryptoKey, a JWK or PEM text'],
    ['a JWK of an unsupported curve', ({ jwk }) => ({ ...jwk, crv: 'secp256k1' }), 'curve "secp256k1"'],
    [
      'a JWK that cannot sign',
      ({ jwk }) => ({ ...jwk, key_ops: ['verify'] }),
      'key is not a valid JWK for ES256.',
    ],
    [
      'a CryptoKey that is not extractable, without its ID',
      async () => (await generateKeyPair('ES256')).privateKey,
      'keyId is missing. A CryptoKey that is not extractable requires it.',
    ],
    [
      'a CryptoKey for key agreement',
      async () => (await generateKeyPair('ECDH-ES', { extractable: true })).privateKey,
      'key is for ECDH and cannot sign. Import it with the usage "sign".',
    ],
    [
      'a CryptoKey of an unsupported algorithm',
      async () => {
        const pair = await crypto.subtle.generateKey({ name: 'Ed448' }, true, ['sign'])
        return (pair as CryptoKeyPair).privateKey
      },
      'key is for Ed448, which is not a supported signature algorithm.',
    ],
  ])('rejects %s as a key', async (_name, make, message) => {
    const key = (await make(await keyPair('ES256'))) as string
    await expect(
      tokensOf({ tokenEndpoint: 'http://127.0.0.1:9/token' }, { key }).getToken(),
    ).rejects.toMatchObject({
      kind: 'configuration',
      message: expect.stringContaining(message),
    })
  })
})

it('names what a rejected assertion contained, not another one of the same authentication', async () => {
  const { jwk } = await keyPair('ES256')
  const clientAuthentication = privateKeyJwt({ key: jwk })
  const other = clientCredentials({
    tokenEndpoint: 'https://other.example.com/token',
    clientId: 'client',
    clientAuthentication,
    fetch: async () => Response.json({ access_token: 'token', expires_in: 600 }),
  })
  const rejected = clientCredentials({
    tokenEndpoint: 'https://auth.example.com/token',
    clientId: 'client',
    clientAuthentication,
    async fetch() {
      await other.getToken()
      return Response.json({ error: 'invalid_client' }, { status: 401 })
    },
  })
  await expect(rejected.getToken()).rejects.toThrow(
    'The assertion has the audience "https://auth.example.com/token" and the key ID "key-1".',
  )
})
