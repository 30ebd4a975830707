import { createLocalJWKSet, createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createKeyring } from '../../src/runtime/keyring.ts'
import { temporaryFolder } from '../service-process.ts'
import {
  administeredService,
  application,
  introspect,
  postForm,
  requestToken,
  resourceServer,
  serviceWithContext,
  testService,
  tokenPath,
} from '../test-service.ts'

const orders = 'https://orders.example.com'
const bills = 'https://bills.example.com'
const jwtApplication = {
  ...application,
  responseForm: 'rfc6749' as const,
  tokenFormat: 'jwt' as const,
  audiences: [orders, bills],
  scopes: ['orders:read', 'orders:write'],
  claims: { tenant: 'a' },
}
const jwksPath = '/.well-known/jwks.json'
const day = 86_400_000

function request(authUrl: string, more: Record<string, string> | string = {}) {
  const { clientId, clientSecret } = application
  const form = new URLSearchParams({ client_id: clientId, client_secret: clientSecret })
  for (const [name, value] of new URLSearchParams(more)) form.append(name, value)
  return postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, form.toString())
}

async function newToken(authUrl: string, more?: Record<string, string> | string): Promise<string> {
  const { status, body } = await request(authUrl, more)
  expect(status).toBe(200)
  return body.access_token
}

/** The IDs of the published keys, and of the one that signs. */
async function keysOf(authUrl: string): Promise<{ published: string[]; signing: string }> {
  const { keys } = (await (await fetch(authUrl + jwksPath)).json()) as { keys: { kid: string }[] }
  return {
    published: keys.map(({ kid }) => kid),
    signing: decodeProtectedHeader(await newToken(authUrl)).kid!,
  }
}

/** Verifies as an API does that fetches the keys now. */
async function verified(authUrl: string, token: string): Promise<string> {
  const keys = createRemoteJWKSet(new URL(authUrl + jwksPath))
  const options = { issuer: authUrl, audience: orders, typ: 'at+jwt' }
  return jwtVerify(token, keys, options).then(
    () => 'valid',
    (error: { code: string; claim?: string }) => [error.code, error.claim].join(' ').trim(),
  )
}

describe('JWT access tokens', () => {
  it.each(['ES256', 'RS256', 'EdDSA'] as const)(
    'are verified with the published key (%s)',
    async (algorithm) => {
      const { authUrl } = await testService({ applications: [jwtApplication], signingAlgorithm: algorithm })
      const metadata = await (await fetch(`${authUrl}/.well-known/oauth-authorization-server`)).json()
      expect(metadata).toMatchObject({ issuer: authUrl, jwks_uri: authUrl + jwksPath })
      const response = await fetch(metadata.jwks_uri)
      expect(response.headers.get('cache-control')).toBe('public, max-age=300')
      expect(response.headers.get('content-type')).toMatch(/^application\/jwk-set\+json/)
      const keys = await response.json()
      expect(keys.keys.flatMap(Object.keys)).not.toContain('d')
      const token = await newToken(authUrl)
      const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(keys), { typ: 'at+jwt' })
      expect(protectedHeader).toEqual({ alg: algorithm, typ: 'at+jwt', kid: keys.keys[0].kid })
      const { clientId } = application
      expect(payload).toEqual({
        iss: authUrl,
        sub: clientId,
        client_id: clientId,
        aud: [orders, bills],
        scope: 'orders:read orders:write',
        api_products: application.products,
        tenant: 'a',
        jti: expect.stringMatching(/^[\da-f-]{36}$/) as string,
        iat: expect.any(Number) as number,
        exp: payload.iat! + 3_600,
      })
      expect(decodeJwt(await newToken(authUrl)).jti).not.toBe(payload.jti)
    },
  )

  it('are for the requested resources, if they are granted', async () => {
    const { authUrl } = await testService({ applications: [jwtApplication], format: 'standard' })
    const audience = async (form: string) => decodeJwt(await newToken(authUrl, form)).aud
    expect(await audience(`resource=${orders}`)).toBe(orders)
    expect(await audience('resource=')).toEqual([orders, bills])
    expect(await audience(`resource=${bills}&resource=${orders}&resource=${bills}`)).toEqual([bills, orders])
    for (const form of [`resource=${orders}/`, `resource=${orders}&resource=x`]) {
      const { status, body } = await request(authUrl, form)
      expect([form, status, body.error]).toEqual([form, 400, 'invalid_target'])
    }
  })

  it('leave out a scope that is empty; opaque tokens ignore the resource', async () => {
    const none = { ...jwtApplication, scopes: [], products: [], audiences: [orders] }
    const opaque = { ...application, clientId: 'opaque' }
    const { authUrl } = await testService({ applications: [none, opaque] })
    const claims = decodeJwt(await newToken(authUrl, 'scope='))
    expect(claims).not.toHaveProperty('scope')
    expect(claims).not.toHaveProperty('api_products')
    expect(claims.aud).toBe(orders)
    const { body } = await postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, {
      client_id: 'opaque',
      client_secret: opaque.clientSecret,
      resource: 'anything',
    })
    expect(body.access_token).toMatch(/^[\w-]{51}$/)
  })

  it('can be introspected and revoked', async () => {
    const { authUrl } = await testService({ applications: [jwtApplication] })
    const token = await newToken(authUrl, `resource=${orders}&scope=orders:read`)
    const { iat, exp, jti } = decodeJwt(token)
    expect((await introspect(authUrl, token)).body).toMatchObject({
      active: true,
      client_id: application.clientId,
      scope: 'orders:read',
      iss: authUrl,
      aud: orders,
      jti,
      iat,
      exp,
    })
    // The same claims with another signature, or none.
    const [header, payload, signature] = token.split('.') as [string, string, string]
    const other = signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))
    const forged = [`${header}.${payload}.${other}`, `${header}.${payload}.`, `${token}.`]
    for (const each of forged) expect((await introspect(authUrl, each)).body).toEqual({ active: false })
    const { clientId, clientSecret } = application
    const form = { token, client_id: clientId, client_secret: clientSecret }
    expect((await postForm(`${authUrl}/oauth/revoke`, form)).status).toBe(200)
    expect((await introspect(authUrl, token)).body).toEqual({ active: false })
  })

  it('need an audience, and no claim that the service sets', async () => {
    const start = (changes: object) => testService({ applications: [{ ...jwtApplication, ...changes }] })
    await expect(start({ audiences: [] })).rejects.toThrow('without audiences')
    await expect(start({ audiences: ['a b'] })).rejects.toThrow('must be a URI')
    await expect(start({ claims: { sub: 'somebody' } })).rejects.toThrow('must not contain iss, sub')
    await expect(start({ claims: { big: 'x'.repeat(2_048) } })).rejects.toThrow('at most 2,048')
  })

  it('can be chosen by an administrator', async () => {
    const { authUrl, send, context } = await administeredService({ applications: [application] })
    const path = `/applications/${application.clientId}`
    expect((await send('PATCH', path, { tokenFormat: 'jwt' })).status).toBe(400)
    expect((await send('PATCH', path, { claims: { iss: 'x' } })).status).toBe(400)
    const changes = { tokenFormat: 'jwt', audiences: [orders], claims: { tenant: 'b' } }
    expect((await send('PATCH', path, changes)).body).toMatchObject(changes)
    expect(decodeJwt(await newToken(authUrl))).toMatchObject({ aud: orders, tenant: 'b' })
    expect((await send('PATCH', path, { audiences: [bills] })).body.claims).toEqual({ tenant: 'b' })
    const [entry] = await context.storage.audit.list(1, { event: 'application_changed' })
    expect(entry?.changes).toEqual({ audiences: { from: [orders], to: [bills] } })
    const [{ id: projectId }] = (await send('GET', '/projects')).body
    const created = { name: 'n', projectId, tokenFormat: 'jwt' }
    expect((await send('POST', '/applications', created)).status).toBe(400)
    expect((await send('POST', '/applications', { ...created, audiences: [orders] })).status).toBe(201)
  })
})

describe('signing keys', () => {
  const clockAt = (nowMs: number) => ({ nowMs, now: () => clock.nowMs })
  const clock = clockAt(Date.now())

  it('are rotated: the next one signs, and the old one stays published for the overlap', async () => {
    clock.nowMs = Date.now()
    const { authUrl, send, context } = await administeredService({ applications: [jwtApplication], clock })
    const before = await keysOf(authUrl)
    const token = await newToken(authUrl)
    expect(before.published).toEqual([before.signing, expect.any(String)])
    const early = await send('POST', '/signing-keys/rotation')
    expect([early.status, early.body.error]).toEqual([
      409,
      expect.stringContaining('in 15 minutes') as string,
    ])
    clock.nowMs += 900_000
    const { body } = await send('POST', '/signing-keys/rotation')
    expect((body as { kid: string; state: string }[]).map(({ kid, state }) => [kid, state])).toEqual([
      [before.signing, 'last'],
      [before.published[1], 'current'],
      [expect.any(String), 'next'],
    ])
    expect(body.flatMap(Object.keys)).not.toContain('encryptedKey')
    const after = await keysOf(authUrl)
    expect(after.signing).toBe(before.published[1])
    expect(after.published).toHaveLength(3)
    expect(await verified(authUrl, token)).toBe('valid')
    clock.nowMs += day - 1
    expect((await keysOf(authUrl)).published).toContain(before.signing)
    clock.nowMs += 1
    expect((await keysOf(authUrl)).published).toEqual(after.published.slice(1))
    const [entry] = await context.storage.audit.list(1, { event: 'signing_key_rotated' })
    expect(entry).toMatchObject({ actorType: 'api', detail: after.signing })
  })

  it('stay published as long as the longest lifetime of JWTs', async () => {
    clock.nowMs = Date.now()
    const long = { ...jwtApplication, lifetimeSeconds: 200_000 }
    const { authUrl, send } = await administeredService({ applications: [long], clock })
    const { signing } = await keysOf(authUrl)
    clock.nowMs += 900_000
    const short = await send('POST', '/signing-keys/rotation', { overlapSeconds: 199_999 })
    expect([short.status, short.body.error]).toEqual([
      400,
      expect.stringContaining('at least 200000') as string,
    ])
    await send('POST', '/signing-keys/rotation')
    clock.nowMs += 199_999_999
    expect((await keysOf(authUrl)).published).toContain(signing)
    clock.nowMs += 1
    expect((await keysOf(authUrl)).published).not.toContain(signing)
  })

  it('are all replaced in an emergency', async () => {
    const { authUrl, send, context } = await administeredService({ applications: [jwtApplication] })
    const before = await keysOf(authUrl)
    const token = await newToken(authUrl)
    expect((await send('POST', '/signing-keys/rotation', { emergency: true })).status).toBe(200)
    const after = await keysOf(authUrl)
    expect(after.published).toHaveLength(2)
    expect(after.published.filter((kid) => before.published.includes(kid))).toEqual([])
    expect(await verified(authUrl, token)).toBe('ERR_JWKS_NO_MATCHING_KEY')
    expect(await verified(authUrl, await newToken(authUrl))).toBe('valid')
    const [entry] = await context.storage.audit.list(1, { event: 'signing_keys_replaced' })
    expect(entry?.detail).toBe(after.signing)
  })

  it('survive a restart, in the database only encrypted; another algorithm comes with the next rotation', async () => {
    clock.nowMs = Date.now()
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const options = { applications: [jwtApplication], storage, clock }
    const first = await serviceWithContext(options)
    const before = await keysOf(first.authUrl)
    for (const { encryptedKey } of await first.context.storage.signingKeys.list())
      expect(decodeProtectedHeader(encryptedKey)).toMatchObject({ alg: 'dir', enc: 'A256GCM' })
    await first.close()
    const second = await administeredService({ ...options, signingAlgorithm: 'EdDSA' })
    const after = await keysOf(second.authUrl)
    expect(after.signing).toBe(before.signing)
    expect(after.published).toEqual([before.signing, expect.any(String)])
    clock.nowMs += 900_000
    await second.send('POST', '/signing-keys/rotation')
    expect(decodeProtectedHeader(await newToken(second.authUrl)).alg).toBe('EdDSA')
  })

  it('are encrypted with the newest key at the start, so that an older one can be removed', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const [old, newest] = ['o'.repeat(32), 'n'.repeat(32)]
    const keyrings = [[old], [newest, old], [newest]]
    const signing: string[] = []
    for (const secretHashKeys of keyrings) {
      const clientId = `client-${signing.length}`
      const another = { ...application, clientId }
      const options = { applications: [another, { ...jwtApplication, clientSecret: secretHashKeys[0]! }] }
      const service = await serviceWithContext({ ...options, storage, secretHashKeys })
      const form = { clientId: application.clientId, clientSecret: secretHashKeys[0]! }
      const { body } = await requestToken(service.authUrl, { ...application, ...form })
      signing.push(decodeProtectedHeader(body.access_token).kid!)
      await service.close()
    }
    expect(new Set(signing).size).toBe(1)
  })

  it('that cannot be decrypted issue nothing, stay published, and are healed by a rotation', async () => {
    const storage = `sqlite:${join(temporaryFolder(), 'data.db')}`
    const [old, other] = ['o'.repeat(32), 'n'.repeat(32)]
    const options = { applications: [jwtApplication], storage }
    const first = await serviceWithContext({ ...options, secretHashKeys: [old] })
    const token = await newToken(first.authUrl)
    const { published } = await keysOf(first.authUrl)
    // With secrets of both keys, the service starts without the old one.
    await first.context.storage.secrets.add({
      id: 'another',
      ownerId: 'nobody',
      ...createKeyring([other]).hash('x'),
      prefix: '',
      createdAtMs: 0,
    })
    await first.close()
    const second = await administeredService({ ...options, secretHashKeys: [other] })
    expect((await request(second.authUrl)).status).toBe(503)
    const response = await fetch(second.authUrl + jwksPath)
    const { keys } = (await response.json()) as { keys: { kid: string }[] }
    expect(keys.map(({ kid }) => kid)).toEqual(published)
    expect((await send(second)).status).toBe(200)
    const after = await keysOf(second.authUrl)
    expect(after.published).toContain(decodeProtectedHeader(token).kid)
    expect(published).not.toContain(after.signing)
    expect(await verified(second.authUrl, await newToken(second.authUrl))).toBe('valid')
  })

  const send = (service: Awaited<ReturnType<typeof administeredService>>) =>
    service.send('POST', '/signing-keys/rotation')
})

describe('the sandbox', () => {
  it.each([
    ['expired', 'ERR_JWT_EXPIRED exp'],
    ['wrong_audience', 'ERR_JWT_CLAIM_VALIDATION_FAILED aud'],
    ['wrong_issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['wrong_type', 'ERR_JWT_CLAIM_VALIDATION_FAILED typ'],
    ['unknown_key', 'ERR_JWKS_NO_MATCHING_KEY'],
    ['old_key', 'ERR_JWKS_NO_MATCHING_KEY'],
    ['wrong_signature', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
  ])('issues a JWT with a flaw: %s', async (jwt, code) => {
    const { authUrl, sandboxUrl } = await testService({ applications: [jwtApplication], sandbox: true })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ jwt, requests: 2 })
    expect((await fetch(`${sandboxUrl}/faults`, { method: 'POST', headers, body })).status).toBe(201)
    const kids = new Set<unknown>()
    for (let count = 0; count < 2; count += 1) {
      const token = await newToken(authUrl)
      kids.add(decodeProtectedHeader(token).kid)
      expect(await verified(authUrl, token)).toBe(code)
    }
    expect(kids.size).toBe(jwt === 'unknown_key' ? 2 : 1)
    expect(await verified(authUrl, await newToken(authUrl))).toBe('valid')
  })

  it('lets requests for the keys fail', async () => {
    const { authUrl, sandboxUrl } = await testService({ sandbox: true, resourceServers: [resourceServer] })
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify({ endpoint: 'keys', status: 503 })
    await fetch(`${sandboxUrl}/faults`, { method: 'POST', headers, body })
    expect((await fetch(authUrl + jwksPath)).status).toBe(503)
    expect((await fetch(authUrl + jwksPath)).status).toBe(200)
  })
})
