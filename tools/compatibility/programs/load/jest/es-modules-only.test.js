const { clientCredentials } = require('@tokenwell/core')
const { tokenHooks } = require('@tokenwell/ky-hook')
const { createTokenVerifier } = require('@tokenwell/resource-server')
const { generateKeyPairSync, sign } = require('node:crypto')
const { default: ky } = require('ky')
const { credentials } = require('../use-packages.js')

test('requires ky and its hook', async () => {
  const { API_URL } = process.env
  const tokens = clientCredentials(credentials)
  const api = ky.extend(tokenHooks(tokens, { allowedOrigins: [API_URL] }))
  expect(await api.get(`${API_URL}/v1/orders`).json()).toHaveLength(2)
  await tokens.close()
})

test('verifies a JWT by jose', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = 'https://auth.example.com'
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'ES256' }]
  const verifier = createTokenVerifier({ issuer, audience: 'orders', jwks: { keys } })
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const exp = Math.floor(Date.now() / 1000) + 60
  const claims = {
    iss: issuer,
    aud: 'orders',
    sub: 'billing',
    client_id: 'billing',
    iat: exp - 60,
    exp,
    jti: '1',
  }
  const content = `${encode({ alg: 'ES256', kid: '1', typ: 'at+jwt' })}.${encode(claims)}`
  const signature = sign('sha256', Buffer.from(content), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  const token = `${content}.${signature.toString('base64url')}`
  expect(await verifier.verify(`Bearer ${token}`)).toMatchObject({ clientId: 'billing' })
})
