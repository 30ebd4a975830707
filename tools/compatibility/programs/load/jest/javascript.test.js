const axios = require('axios')
const { generateKeyPairSync, sign } = require('node:crypto')
const core = require('@tokenwell/core')
const { createTokenVerifier } = require('@tokenwell/resource-server')
const axiosInterceptor = require('@tokenwell/axios-interceptor')
const { expected, usePackages } = require('../use-packages.js')

test('requires the packages', async () => {
  expect(await usePackages({ core, axiosInterceptor, axios })).toEqual(expected)
})

test.each([
  ['@tokenwell/nestjs-module', 'TokenModule'],
  ['@tokenwell/nestjs-module/axios', 'TokenHttpModule'],
  ['@tokenwell/opentelemetry', 'instrumentTokens'],
  ['@tokenwell/token-stores/redis', 'createRedisTokenStore'],
  ['@tokenwell/ky-hook', 'tokenHooks'],
])('requires %s', (name, exported) => {
  expect(require(name)[exported]).toBeInstanceOf(Function)
})

test('verifies a JWT, with the jose that the package carries', async () => {
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
  await expect(verifier.verify(`Bearer ${token}x`)).rejects.toMatchObject({ status: 401 })
})
