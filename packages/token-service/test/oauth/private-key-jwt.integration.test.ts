import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { exportJWK, exportPKCS8, exportSPKI, generateKeyPair } from 'jose'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ApplicationOptions, RunningTokenService, TokenServiceOptions } from '@tokenwell/token-service'
import {
  application as secretApplication,
  basic,
  introspect,
  postForm,
  testService,
  tokenPath,
} from '../test-service.ts'
import {
  algorithm,
  assertionFor,
  assertionType,
  jwksOf,
  keyClientId as clientId,
  pair,
  present,
  type Assertion,
} from './client-assertion.ts'

const otherPair = await generateKeyPair(algorithm, { extractable: true })

async function keyService(
  keys: Pick<ApplicationOptions, 'jwks' | 'jwksUrl' | 'publicKey'> = {},
  options: TokenServiceOptions = {},
): Promise<RunningTokenService> {
  const registered = Object.keys(keys).length > 0 ? keys : { jwks: await jwksOf(pair.publicKey) }
  const application = { name: 'by key', clientId, products: ['speech-to-text'], ...registered }
  return testService({ applications: [application, secretApplication], ...options })
}

/** Presents an assertion with these changes; resolves with the error, or `accepted`. */
async function outcome({ authUrl }: { authUrl: string }, assertion: Assertion = {}): Promise<string> {
  const { status, body } = await present(authUrl, await assertionFor(authUrl, assertion))
  return status === 200 ? 'accepted' : `${status} ${body.Error}`
}

const invalidClient = '401 ClientId is Invalid'
const invalidClaim = (name: string) =>
  `401 A claim of the client assertion is missing, invalid, expired or already used : ${name}`

/** What is logged when the keys of a client cannot be fetched. */
async function warningOf(fetchKeys: typeof fetch): Promise<string> {
  let log = ''
  const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) })
  const jwksUrl = 'https://client.example.com/jwks.json'
  const service = await keyService({ jwksUrl }, { fetchKeys, logger })
  expect(await outcome(service)).toBe('503 undefined')
  return log
}

describe('private_key_jwt', () => {
  it('authenticates an application without a secret', async () => {
    const { authUrl } = await keyService()
    const { status, body } = await present(authUrl, await assertionFor(authUrl))
    expect(status).toBe(200)
    expect(body).toMatchObject({ client_id: clientId, api_product_list_json: ['speech-to-text'] })
    expect((await introspect(authUrl, body.access_token)).body.active).toBe(true)
  })

  it.each(['RS256', 'PS256', 'ES384', 'ES512', 'EdDSA'])('accepts %s, registered as PEM', async (alg) => {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
    const service = await keyService({ publicKey: await exportSPKI(publicKey) })
    expect(await outcome(service, { key: privateKey, header: { alg, kid: 'any' } })).toBe('accepted')
  })

  it('accepts the issuer, the token endpoint and the endpoint of the request as audience', async () => {
    const { authUrl } = await keyService()
    const tokenEndpoint = `${authUrl}${tokenPath}`
    for (const audience of [
      authUrl,
      [authUrl],
      tokenEndpoint,
      `${tokenEndpoint}?grant_type=client_credentials`,
    ]) {
      expect((await present(authUrl, await assertionFor(audience))).status).toBe(200)
    }
    const { body } = await present(authUrl, await assertionFor(authUrl))
    const revocation = await postForm(`${authUrl}/oauth/revoke`, {
      token: body.access_token,
      client_assertion_type: assertionType,
      client_assertion: await assertionFor(`${authUrl}/oauth/revoke`),
    })
    expect(revocation.status).toBe(200)
    expect((await introspect(authUrl, body.access_token)).body).toEqual({ active: false })
  })

  it('rejects an assertion for somebody else, even if it is for this service too', async () => {
    const { authUrl } = await keyService()
    const other = 'https://other.example.com'
    for (const audience of [other, [authUrl, other], `${authUrl}/oauth/introspect`, '']) {
      const { status, body } = await present(authUrl, await assertionFor(audience))
      expect({ status, error: body.Error }).toEqual({ status: 401, error: invalidClaim('aud').slice(4) })
    }
  })

  it.each([
    ['an empty list', []],
    ['no value', undefined],
    ['null', null],
    ['a number', 1],
    ['an object', { issuer: 'https://auth.example.com' }],
    ['a list with null', [null]],
  ])('rejects an assertion whose audience is %s', async (_title, aud) => {
    const service = await keyService()
    expect(await outcome(service, { claims: { aud: aud as never } })).toBe(invalidClaim('aud'))
  })

  it('rejects an assertion whose audience is a list in a list', async () => {
    const service = await keyService()
    const aud = [[service.authUrl]] as never
    expect(await outcome(service, { claims: { aud } })).toBe(invalidClaim('aud'))
  })

  it('accepts each assertion once, even of concurrent ones', async () => {
    const { authUrl } = await keyService()
    const assertion = await assertionFor(authUrl)
    const responses = await Promise.all(Array.from({ length: 10 }, () => present(authUrl, assertion)))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await present(authUrl, assertion)).body.Error).toBe(invalidClaim('jti').slice(4))
  })

  it('rejects assertions that are expired, from the future, valid for too long, or lack a claim', async () => {
    const service = await keyService()
    const now = Math.floor(Date.now() / 1000)
    expect(await outcome(service, { claims: { exp: now - 30 } })).toBe('accepted')
    expect(await outcome(service, { claims: { iat: now + 30 } })).toBe('accepted')
    expect(await outcome(service, { claims: { exp: now - 90 } })).toBe(invalidClaim('exp'))
    expect(await outcome(service, { claims: { exp: now + 100_000 } })).toBe(invalidClaim('exp'))
    expect(await outcome(service, { claims: { iat: now + 120 } })).toBe(invalidClaim('iat'))
    expect(await outcome(service, { claims: { nbf: now + 120 } })).toBe(invalidClaim('nbf'))
    expect(await outcome(service, { claims: { exp: undefined as never } })).toBe(invalidClaim('exp'))
    expect(await outcome(service, { claims: { jti: undefined as never } })).toBe(invalidClaim('jti'))
    expect(await outcome(service, { claims: { iss: 'other' } })).toBe(invalidClaim('iss'))
  })

  it('rejects other keys, other clients and tampered assertions without a reason', async () => {
    const { authUrl } = await keyService()
    expect(await outcome({ authUrl }, { key: otherPair.privateKey })).toBe(invalidClient)
    expect(await outcome({ authUrl }, { claims: { iss: 'nobody', sub: 'nobody' } })).toBe(invalidClient)
    const { clientId: other } = secretApplication
    expect(await outcome({ authUrl }, { claims: { iss: other, sub: other } })).toBe(invalidClient)
    const [head, , signature] = (await assertionFor(authUrl)).split('.')
    const [, claims] = (await assertionFor(authUrl)).split('.')
    expect((await present(authUrl, `${head}.${claims}.${signature}`)).body.Error).toBe('ClientId is Invalid')
    const mixed = await present(authUrl, await assertionFor(authUrl), { client_id: other })
    expect(mixed.body.Error).toBe('ClientId is Invalid')
  })

  it('rejects the public key as the secret of an HMAC, and unsigned assertions', async () => {
    const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
    const pem = await exportSPKI(publicKey)
    const service = await keyService({ publicKey: pem })
    expect(await outcome(service, { key: privateKey, header: { alg: 'RS256' } })).toBe('accepted')
    for (const secret of [pem, pem.trim(), JSON.stringify(await exportJWK(publicKey))]) {
      const forged = { key: new TextEncoder().encode(secret), header: { alg: 'HS256' } }
      expect(await outcome(service, forged)).toBe(invalidClient)
    }
    const [, claims] = (await assertionFor(service.authUrl)).split('.')
    const none = Buffer.from('{"alg":"none"}').toString('base64url')
    expect((await present(service.authUrl, `${none}.${claims}.AA`)).body.Error).toBe('ClientId is Invalid')
  })

  it('rejects more than one kind of credentials, and malformed assertions', async () => {
    const { authUrl } = await keyService()
    const secret = { client_id: clientId, client_secret: 'x' }
    expect((await present(authUrl, await assertionFor(authUrl), secret)).status).toBe(400)
    const both = await present(authUrl, await assertionFor(authUrl), {}, basic(secretApplication))
    expect(both.status).toBe(400)
    expect((await present(authUrl, 'a.b')).body.Error).toBe('A parameter is malformed : client_assertion')
    expect((await present(authUrl, 'a.b.c')).body.Error).toBe('ClientId is Invalid')
    const saml = { client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' }
    expect((await present(authUrl, await assertionFor(authUrl), saml)).status).toBe(400)
  })

  it('limits failed attempts by address and client', async () => {
    const service = await keyService()
    for (let attempt = 0; attempt < 10; attempt += 1) await outcome(service, { key: otherPair.privateKey })
    expect(await outcome(service, { key: otherPair.privateKey })).toMatch(/^429/)
    expect(await outcome(service)).toBe('accepted')
  })

  it('tries each registered key, and only the one with the key ID if there is one', async () => {
    const { keys } = await jwksOf(otherPair.publicKey, pair.publicKey)
    expect(await outcome(await keyService({ jwks: { keys } }))).toBe('accepted')
    const named = {
      keys: [
        { ...keys[0], kid: 'a' },
        { ...keys[1], kid: 'b', alg: algorithm },
      ],
    }
    const service = await keyService({ jwks: named })
    expect(await outcome(service)).toBe('accepted')
    expect(await outcome(service, { header: { kid: 'b' } })).toBe('accepted')
    expect(await outcome(service, { header: { kid: 'a' } })).toBe(invalidClient)
  })

  it('fetches a JWK set by URL, again for a new key, and responds with 503 if it is unavailable', async () => {
    const published = { keys: [] as object[], fetched: 0 }
    const url = 'https://client.example.com/jwks.json'
    const service = await keyService(
      { jwksUrl: url },
      {
        fetchKeys: async (input) => {
          expect(input).toBe(url)
          published.fetched += 1
          if (published.keys.length === 0) throw new TypeError('fetch failed')
          return Response.json({ keys: published.keys })
        },
      },
    )
    expect(await outcome(service)).toBe('503 undefined')
    published.keys = (await jwksOf(pair.publicKey)).keys
    // Not requested again immediately.
    expect(await outcome(service)).toBe('503 undefined')
    expect(published.fetched).toBe(1)
  })

  it('fetches a JWK set once for many assertions', async () => {
    let fetched = 0
    const { keys } = await jwksOf(pair.publicKey)
    const fetchKeys = async () => {
      fetched += 1
      return Response.json({ keys })
    }
    const service = await keyService({ jwksUrl: 'https://client.example.com/jwks.json' }, { fetchKeys })
    expect(await Promise.all(Array.from({ length: 5 }, () => outcome(service)))).toEqual(
      Array(5).fill('accepted'),
    )
    expect(await outcome(service, { key: otherPair.privateKey })).toBe(invalidClient)
    expect(fetched).toBe(1)
  })

  it('connects to no internal address for a JWK set, unless it is allowed', async () => {
    let connections = 0
    const server = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const hosts = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '127.1']
    for (const host of hosts) {
      const service = await keyService({ jwksUrl: `https://${host}:${port}/jwks.json` })
      expect(await outcome(service)).toBe('503 undefined')
    }
    expect(connections).toBe(0)
    const jwksUrl = `https://127.0.0.1:${port}/jwks.json`
    const service = await keyService({ jwksUrl }, { jwksAllowedHosts: ['127.0.0.0/8'] })
    expect(await outcome(service)).toBe('503 undefined')
    expect(connections).toBe(1)
  })

  it('rejects a JWK set that is too large', async () => {
    const fetchKeys = async () => new Response('x'.repeat(100_000))
    expect(await warningOf(fetchKeys)).toContain('is not available: the response is larger than 64 KiB')
  })

  it('logs the code of a failure that has no message', async () => {
    const fetchKeys = async () => {
      throw Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    }
    expect(await warningOf(fetchKeys)).toContain('is not available: ECONNREFUSED')
  })

  it.each([
    ['private', async () => exportPKCS8(pair.privateKey)],
    ['private', async () => JSON.stringify(await exportJWK(pair.privateKey))],
    ['symmetric', async () => JSON.stringify({ kty: 'oct', k: 'AAAA' })],
    [
      'cannot be used',
      async () =>
        generateKeyPairSync('rsa', { modulusLength: 1024 })
          .publicKey.export({ type: 'spki', format: 'pem' })
          .toString(),
    ],
    [
      'cannot be used',
      async () =>
        generateKeyPairSync('ec', { namedCurve: 'secp256k1' })
          .publicKey.export({ type: 'spki', format: 'pem' })
          .toString(),
    ],
    ['invalid', async () => 'nonsense'],
    ['https', async () => 'http://client.example.com/jwks.json'],
  ])('does not start with a key that is %s', async (reason, key) => {
    await expect(keyService({ publicKey: await key() })).rejects.toThrow(reason)
  })

  it('lists the method and its algorithms in the metadata', async () => {
    const { authUrl } = await keyService()
    const metadata = (await (
      await fetch(`${authUrl}/.well-known/oauth-authorization-server`)
    ).json()) as object
    expect(metadata).toMatchObject({
      token_endpoint_auth_methods_supported: expect.arrayContaining(['private_key_jwt']),
      token_endpoint_auth_signing_alg_values_supported: expect.arrayContaining(['RS256', 'ES256']),
    })
    expect(JSON.stringify(metadata)).not.toMatch(/HS256|none/)
  })

  it('needs a secret or a key in the configuration', async () => {
    await expect(testService({ applications: [{ name: 'n', clientId }] })).rejects.toThrow(
      '"key-client" in applications has neither a clientSecret nor a public key.',
    )
  })
})
