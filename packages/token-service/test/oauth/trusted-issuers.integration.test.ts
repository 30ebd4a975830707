import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { jwtBearer } from '@tokenwell/core'
import { base64url, decodeJwt, exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import type { TokenServiceOptions, TrustedIssuerOptions } from '@tokenwell/token-service'
import { readConfiguration } from '../../src/command/configuration.ts'
import { temporaryFolder } from '../service-process.ts'
import {
  administeredService,
  application as secretApplication,
  basic,
  introspect,
  postForm,
  serviceWithContext,
  testService,
  tokenPath,
} from '../test-service.ts'

const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
const issuer = 'https://token.actions.example.com'
const jwksUrl = `${issuer}/jwks`
const [pair, otherPair] = await Promise.all([generateKeyPair('ES256'), generateKeyPair('ES256')])
const [jwk, otherJwk] = await Promise.all([exportJWK(pair.publicKey), exportJWK(otherPair.publicKey)])
const rsa = await generateKeyPair('RS256')

const orders = { name: 'orders', clientId: 'orders', publicKey: await exportSPKI(rsa.publicKey) }
const billing = { ...orders, name: 'billing', clientId: 'billing' }
const trusted: TrustedIssuerOptions = {
  issuer,
  jwksUrl,
  rules: [{ clientId: 'orders', claims: { sub: 'repo:example/orders:*' } }],
}

/** Serves what an issuer publishes, and counts the requests. */
function publisher(keys = [pair.publicKey]) {
  const state = { keys, requests: [] as string[], metadata: undefined as object | undefined, isDown: false }
  const fetchKeys: typeof fetch = async (input) => {
    const { url } = new Request(input)
    state.requests.push(url)
    if (state.isDown) throw new Error('it is down')
    if (url === jwksUrl) {
      const jwks = await Promise.all(state.keys.map((key) => exportJWK(key)))
      return Response.json({ keys: jwks.map((jwk, index) => ({ ...jwk, kid: `key-${index}` })) })
    }
    return state.metadata && url.endsWith('/openid-configuration')
      ? Response.json(state.metadata)
      : new Response(undefined, { status: 404 })
  }
  return Object.assign(state, { fetchKeys })
}

async function trustingService(
  changes: Partial<TrustedIssuerOptions> = {},
  options: TokenServiceOptions = {},
) {
  let log = ''
  const logger = pino({ level: 'warn' }, { write: (line) => void (log += line) })
  const published = publisher()
  const service = await testService({
    applications: [orders, billing, secretApplication],
    trustedIssuers: [{ ...trusted, ...changes }],
    fetchKeys: published.fetchKeys,
    format: 'standard',
    logger,
    ...options,
  })
  return { ...service, published, logged: () => log }
}

/** `undefined` removes a claim. */
type Claims = Record<string, unknown>

interface Identity {
  readonly claims?: Claims | undefined
  readonly header?: { readonly alg?: string; readonly kid?: string; readonly typ?: string } | undefined
  readonly key?: Parameters<SignJWT['sign']>[0] | undefined
}

function identity(audience: string, { claims, header, key = pair.privateKey }: Identity = {}) {
  const now = Math.floor(Date.now() / 1000)
  return new SignJWT({
    iss: issuer,
    sub: 'repo:example/orders:ref:refs/heads/main',
    aud: audience,
    iat: now,
    exp: now + 300,
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid: 'key-0', ...header })
    .sign(key)
}

const exchange = (
  authUrl: string,
  assertion: string,
  form: Record<string, string> = {},
  headers: Record<string, string> = {},
) => postForm(`${authUrl}${tokenPath}?grant_type=${grant}`, { assertion, ...form }, headers)

async function outcome({ authUrl }: { authUrl: string }, changes: Identity = {}, form = {}) {
  const { status, body } = await exchange(authUrl, await identity(authUrl, changes), form)
  if (status === 200) return body.client_id as string
  return `${status} ${body.error}${/ : (\w+)$/.exec(body.error_description)?.[0] ?? ''}`
}

const isActive = async (authUrl: string, token: string) =>
  (await introspect(authUrl, token)).body.active as boolean

describe('the JWT of a trusted issuer', () => {
  it('is exchanged for a token of the application that a rule names', async () => {
    const { authUrl } = await trustingService()
    const { status, body } = await exchange(authUrl, await identity(authUrl))
    expect([status, body.client_id, body.expires_in]).toEqual([200, 'orders', '3600'])
    expect(await isActive(authUrl, body.access_token)).toBe(true)
  })

  it('may be for the token endpoint, and for configured audiences instead', async () => {
    const service = await trustingService()
    expect(await outcome(service, { claims: { aud: `${service.authUrl}${tokenPath}` } })).toBe('orders')
    const other = await trustingService({ audiences: ['api://tokens'] })
    expect(await outcome(other, { claims: { aud: 'api://tokens' } })).toBe('orders')
    expect(await outcome(other)).toBe('400 invalid_grant : aud')
  })

  it.each<[claims: Claims, claim: string]>([
    [{ aud: [] }, 'aud'],
    [{ aud: 'https://elsewhere.example.com' }, 'aud'],
    [{ aud: undefined }, 'aud'],
    [{ exp: Math.floor(Date.now() / 1000) - 61 }, 'exp'],
    [{ exp: Math.floor(Date.now() / 1000) + 100_000 }, 'exp'],
    [{ exp: undefined }, 'exp'],
    [{ nbf: Math.floor(Date.now() / 1000) + 3_600 }, 'nbf'],
    [{ iat: Math.floor(Date.now() / 1000) + 3_600 }, 'iat'],
  ])('is rejected with %j, which the response names', async (claims, claim) => {
    expect(await outcome(await trustingService(), { claims })).toBe(`400 invalid_grant : ${claim}`)
  })

  it('is not for several audiences, each of which could present it to the others', async () => {
    const service = await trustingService()
    const aud = [service.authUrl, 'https://elsewhere.example.com']
    expect(await outcome(service, { claims: { aud } })).toBe('400 invalid_grant : aud')
  })

  it.each([
    issuer.slice(0, -1),
    `${issuer}/`,
    `${issuer}.evil.example.com`,
    issuer.toUpperCase(),
    '',
    undefined,
  ])('is rejected from another issuer: %j', async (iss) => {
    expect(await outcome(await trustingService(), { claims: { iss } })).toBe('400 invalid_grant')
  })

  it('is rejected with another key, without a signature, and with the public key as a secret', async () => {
    const service = await trustingService()
    expect(await outcome(service, { key: otherPair.privateKey })).toBe('400 invalid_grant')
    const hmac = {
      header: { alg: 'HS256' },
      key: Buffer.from(JSON.stringify(await exportJWK(pair.publicKey))),
    }
    expect(await outcome(service, hmac)).toBe('400 invalid_grant')
    const [, payload] = (await identity(service.authUrl)).split('.')
    const unsigned = `${base64url.encode('{"alg":"none"}')}.${payload}.x`
    expect((await exchange(service.authUrl, unsigned)).body.error).toBe('invalid_grant')
  })

  it.each(['a.b', '', 'a.b.c.d', `a.b.${'c'.repeat(16_384)}`])(
    'is a JWT of at most 16 KiB: %#',
    async (text) => {
      const { authUrl } = await trustingService()
      const { status, body } = await exchange(authUrl, text)
      expect([status, body.error]).toEqual([400, 'invalid_request'])
    },
  )

  it('is throttled by address if its signature is wrong, and a right one is still accepted', async () => {
    const service = await trustingService({}, { failureAttempts: 2 })
    const wrong = { key: otherPair.privateKey }
    const outcomes = [
      await outcome(service, wrong),
      await outcome(service, wrong),
      await outcome(service, wrong),
    ]
    expect(outcomes).toEqual(['400 invalid_grant', '400 invalid_grant', '429 slow_down'])
    expect(await outcome(service)).toBe('orders')
  })
})

describe('the JWT of a trusted issuer as a client assertion', () => {
  const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
  const assert = async (
    { authUrl }: { authUrl: string },
    changes: Identity = {},
    { path = `${tokenPath}?grant_type=client_credentials`, ...form }: Record<string, string> = {},
  ) => {
    const client_assertion = await identity(authUrl, changes)
    const { status, body } = await postForm(`${authUrl}${path}`, {
      client_assertion_type: assertionType,
      client_assertion,
      ...form,
    })
    return status === 200
      ? (body?.client_id ?? 'accepted')
      : `${status} ${body.error}: ${body.error_description}`
  }
  const claimError = (claim: string) =>
    `401 invalid_client: A claim of the client assertion is missing, invalid, expired or already used : ${claim}`
  const unmapped =
    '401 invalid_client: The identity in the client assertion does not stand for exactly one application'

  it('authenticates the application that a rule names, as often as it is sent', async () => {
    const service = await trustingService()
    const claims = { jti: 'a token that is mounted as a file' }
    expect([await assert(service, { claims }), await assert(service, { claims })]).toEqual([
      'orders',
      'orders',
    ])
    expect(await assert(service, {}, { client_id: 'orders' })).toBe('orders')
    const typed = { header: { typ: 'client-authentication+jwt' } }
    expect(await assert(service, typed)).toBe('orders')
    expect(await assert(service, { claims: { aud: `${service.authUrl}${tokenPath}` } })).toBe('orders')
  })

  it('is accepted once if its issuer detects replays, as an assertion or as a grant', async () => {
    const service = await trustingService({ detectReplay: true })
    const claims = { jti: 'run-1' }
    expect(await assert(service, { claims })).toBe('orders')
    expect(await assert(service, { claims })).toBe(claimError('jti'))
    expect(await outcome(service, { claims })).toBe('400 invalid_grant : jti')
    expect(await assert(service)).toBe(claimError('jti'))
  })

  it('authenticates for revocation too', async () => {
    const service = await trustingService()
    const { body } = await exchange(service.authUrl, await identity(service.authUrl))
    const token = body.access_token as string
    expect(await assert(service, {}, { path: '/oauth/revoke', token })).toBe('accepted')
    expect(await isActive(service.authUrl, token)).toBe(false)
  })

  it('is rejected for an application that no rule names, and the log says why', async () => {
    const service = await trustingService()
    expect(await assert(service, {}, { client_id: 'billing' })).toBe(unmapped)
    expect(await assert(service, { claims: { sub: 'repo:example/other:main' } })).toBe(unmapped)
    expect(service.logged()).toContain(
      'map a JWT with the sub \\"repo:example/other:main\\" to no application',
    )
  })

  it.each<[Identity, string]>([
    [{ claims: { aud: 'https://elsewhere.example.com' } }, claimError('aud')],
    [{ claims: { exp: Math.floor(Date.now() / 1000) - 61 } }, claimError('exp')],
    [{ claims: { exp: Math.floor(Date.now() / 1000) + 100_000 } }, claimError('exp')],
    [{ key: otherPair.privateKey }, '401 invalid_client: ClientId is Invalid'],
    [{ claims: { iss: `${issuer}.evil.example.com` } }, '401 invalid_client: ClientId is Invalid'],
    [{ claims: { iss: 'orders', sub: 'orders' } }, '401 invalid_client: ClientId is Invalid'],
  ])('is rejected with %j', async (changes, expected) => {
    expect(await assert(await trustingService(), changes)).toBe(expected)
  })

  it('does not introspect: rules name applications, not resource servers', async () => {
    const service = await trustingService(
      {},
      { resourceServers: [{ clientId: 'orders', clientSecret: 'x'.repeat(16) }] },
    )
    const form = { path: '/oauth/introspect', token: 'a token' }
    expect(await assert(service, {}, form)).toBe('401 invalid_client: ClientId is Invalid')
  })
})

describe('rules', () => {
  const rulesOf = (...claims: TrustedIssuerOptions['rules'][number]['claims'][]) => ({
    rules: claims.map((each) => ({ clientId: 'orders', claims: each })),
  })

  it.each<[pattern: TrustedIssuerOptions['rules'][number]['claims'], claims: Claims, isMatch: boolean]>([
    [{ sub: 'a' }, { sub: 'a' }, true],
    [{ sub: 'a' }, { sub: 'A' }, false],
    [{ sub: 'a' }, { sub: 'ab' }, false],
    [{ sub: 'repo:a/b:*' }, { sub: 'repo:a/b:' }, false],
    [{ sub: 'repo:a/b:*' }, { sub: 'repo:a/b-evil:x' }, false],
    [{ sub: 'repo:a/*' }, { sub: 'repo:a/b:x' }, true],
    [{ sub: 'a', environment: 'production' }, { sub: 'a' }, false],
    [{ sub: 'a', environment: 'production' }, { sub: 'a', environment: 'production' }, true],
    [
      { 'ci.example.com': { namespace: 'orders' } },
      { 'ci.example.com': { namespace: 'orders', pod: {} } },
      true,
    ],
    [{ 'ci.example.com': { namespace: 'orders' } }, { 'ci.example.com': { namespace: 'other' } }, false],
    [{ 'ci.example.com': { namespace: 'orders' } }, { 'ci.example.com': 'orders' }, false],
    [{ groups: 'admins' }, { groups: ['users', 'admins'] }, true],
    [{ groups: 'admins' }, { groups: ['users'] }, false],
    [{ email_verified: true }, { email_verified: 'true' }, false],
    [{ email_verified: true }, { email_verified: true }, true],
    [{ run: 1 }, { run: '1' }, false],
    [{ toString: 'a' }, {}, false],
  ])('%j and a JWT with %j: %s', async (pattern, claims, isMatch) => {
    const service = await trustingService(rulesOf(pattern))
    expect(await outcome(service, { claims })).toBe(isMatch ? 'orders' : '400 invalid_grant')
  })

  it('must name one application; the request may choose among several', async () => {
    const rules = [
      { clientId: 'orders', claims: { sub: 'repo:example/*' } },
      { clientId: 'billing', claims: { sub: 'repo:example/orders:*' } },
    ]
    const service = await trustingService({ rules })
    expect(await outcome(service)).toBe('400 invalid_grant')
    expect(await outcome(service, {}, { client_id: 'billing' })).toBe('billing')
    expect(await outcome(service, {}, { client_id: 'demo-client' })).toBe('400 invalid_grant')
    expect(service.logged()).toContain(
      'map a JWT with the sub \\"repo:example/orders:ref:refs/heads/main\\" to \\"orders\\", \\"billing\\", not to one',
    )
  })

  it('hold for a client that authenticates, too', async () => {
    const rules = [
      ...trusted.rules,
      { clientId: secretApplication.clientId, claims: { sub: 'repo:example/*' } },
    ]
    const { authUrl } = await trustingService({ rules })
    const assertion = await identity(authUrl)
    const own = await exchange(authUrl, assertion, {}, basic(secretApplication))
    expect([own.status, own.body.client_id]).toEqual([200, secretApplication.clientId])
    const wrong = await exchange(
      authUrl,
      assertion,
      {},
      basic({ ...secretApplication, clientSecret: 'wrong' }),
    )
    expect(wrong.body.error).toBe('invalid_client')
  })

  it('lead to no token of an application that is not approved, or does not exist', async () => {
    const pending = { ...orders, clientId: 'pending', status: 'pending' as const }
    for (const [clientId, error] of [
      ['pending', 'unauthorized_client'],
      ['absent', 'invalid_grant'],
    ] as const) {
      const rules = [{ clientId, claims: { iss: issuer } }]
      const service = await trustingService({ rules }, { applications: [pending] })
      expect(await outcome(service)).toBe(`400 ${error}`)
    }
  })

  it.each([
    [{ rules: [{ clientId: 'orders', claims: { sub: '*' } }] }, /claims" must contain/],
    [{ rules: [{ clientId: 'orders', claims: { sub: 'repo:example*' } }] }, /may end with \* after : or \//],
    [{ rules: [{ clientId: 'orders', claims: {} }] }, /claims" must contain/],
    [{ rules: [] }, /rules/],
    [{ jwksUrl: 'http://issuer.example.com/jwks' }, /jwksUrl" must be an https URL/],
    [{ issuer: 'kubernetes', jwksUrl: undefined }, /its keys cannot be discovered. Set jwksUrl or jwks/],
    [{ jwks: { keys: [jwk] } }, /jwks and jwksUrl .+ are mutually exclusive/],
    [{ jwksUrl: undefined, jwks: { keys: [] } }, /jwks.keys" must/],
    [{ jwksUrl: undefined, jwks: { keys: [{ kty: 'oct', k: 'c2VjcmV0' }] } }, /private or symmetric key/],
    [
      { issuer: 'https://gitlab.com' },
      /rule of "https:\/\/gitlab.com" for "orders" must contain the project/,
    ],
  ])('are checked at the start: %j', async (changes, message) => {
    await expect(trustingService(changes)).rejects.toThrow(message)
  })
})

describe('the keys of a trusted issuer', () => {
  it('are found through its metadata, which are kept', async () => {
    const service = await trustingService({ jwksUrl: undefined })
    service.published.metadata = { issuer, jwks_uri: jwksUrl }
    expect(await outcome(service)).toBe('orders')
    expect(await outcome(service)).toBe('orders')
    expect(service.published.requests).toEqual([`${issuer}/.well-known/openid-configuration`, jwksUrl])
  })

  it('are not taken from the metadata of another issuer', async () => {
    const service = await trustingService({ jwksUrl: undefined })
    service.published.metadata = { issuer: `${issuer}/`, jwks_uri: jwksUrl }
    expect(await outcome(service)).toBe('503 temporarily_unavailable')
    expect(service.logged()).toContain('it is of another issuer')
  })

  it('are asked for once by many requests while the issuer is down', async () => {
    const service = await trustingService({ jwksUrl: undefined })
    service.published.isDown = true
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => outcome(service)))
    expect(new Set(outcomes)).toEqual(new Set(['503 temporarily_unavailable']))
    expect(service.published.requests).toHaveLength(2)
  })

  it('are never fetched from an internal address', async () => {
    const service = await trustingService({ jwksUrl: 'https://127.0.0.1:1/jwks' }, { fetchKeys: undefined })
    expect(await outcome(service)).toBe('503 temporarily_unavailable')
    expect(service.logged()).toContain('internal address 127.0.0.1')
  })
})

describe('the JWK set of the settings', () => {
  const jwks = {
    keys: [
      { ...otherJwk, kid: 'key-1' },
      { ...jwk, kid: 'key-0' },
    ],
  }

  it('verifies JWTs of an issuer that nothing is fetched from, in the configuration and over HTTP', async () => {
    const changes = { issuer: 'a cluster', jwksUrl: undefined, jwks }
    const service = await trustingService(changes, { applications: [orders] })
    expect(await outcome(service, { claims: { iss: 'a cluster' } })).toBe('orders')
    const forged = { claims: { iss: 'a cluster' }, key: otherPair.privateKey }
    expect(await outcome(service, forged)).toBe('400 invalid_grant')
    const unknown = { claims: { iss: 'a cluster' }, header: { kid: 'key-7' } }
    expect(await outcome(service, unknown)).toBe('400 invalid_grant')
    expect(service.published.requests).toEqual([])
    const { jwksUrl: _, ...settings } = trusted
    const administered = await administeredService({ applications: [orders], format: 'standard' })
    const { status, body } = await administered.send('POST', '/trusted-issuers', { ...settings, jwks })
    expect([status, body.jwks]).toEqual([201, jwks])
    expect(await outcome(administered)).toBe('orders')
  })
})

describe('replay detection', () => {
  it('accepts each JWT once, and needs its ID', async () => {
    const service = await trustingService({ detectReplay: true })
    const claims = { jti: 'run-1' }
    expect(await outcome(service, { claims })).toBe('orders')
    expect(await outcome(service, { claims })).toBe('400 invalid_grant : jti')
    expect(await outcome(service)).toBe('400 invalid_grant : jti')
  })

  it('needs an ID of 1 to 512 characters', async () => {
    const service = await trustingService({ detectReplay: true })
    const outcomeWith = (jti: unknown) => outcome(service, { claims: { jti } })
    for (const jti of ['', 'x'.repeat(513), 5]) expect(await outcomeWith(jti)).toBe('400 invalid_grant : jti')
    for (const jti of ['x', 'x'.repeat(512)]) expect(await outcomeWith(jti)).toBe('orders')
  })

  it('is off unless it is set: platforms send one JWT until it expires', async () => {
    const service = await trustingService()
    const claims = { jti: 'run-1' }
    expect([await outcome(service, { claims }), await outcome(service, { claims })]).toEqual([
      'orders',
      'orders',
    ])
  })
})

describe('administration', () => {
  it('adds, changes and removes issuers; removal revokes their tokens', async () => {
    const { fetchKeys } = publisher()
    const { authUrl, send } = await administeredService({ applications: [orders, billing], fetchKeys })
    const metadata = async () =>
      (
        (await (await fetch(`${authUrl}/.well-known/oauth-authorization-server`)).json()) as Record<
          string,
          string[]
        >
      )['grant_types_supported']
    expect(await metadata()).toEqual(['client_credentials'])
    const { status, body: added } = await send('POST', '/trusted-issuers', trusted)
    expect([status, added.issuer, added.detectReplay]).toEqual([201, issuer, false])
    expect(await metadata()).toEqual(['client_credentials', grant])
    expect((await send('POST', '/trusted-issuers', trusted)).body.error).toMatch(/is trusted already/)
    const token = (await exchange(authUrl, await identity(authUrl))).body.access_token as string

    const rules = [{ clientId: 'billing', claims: { sub: 'repo:example/*' } }]
    const path = `/trusted-issuers/${added.id}`
    expect((await send('PUT', path, { ...trusted, rules }, '*')).body.rules).toEqual(rules)
    expect((await exchange(authUrl, await identity(authUrl))).body.client_id).toBe('billing')
    expect(await isActive(authUrl, token)).toBe(true)
    const unknown = { ...trusted, rules: [{ ...rules[0], clientId: 'nobody' }] }
    expect((await send('PUT', path, unknown, '*')).body.error).toBe(
      'There is no application with the client ID "nobody".',
    )
    expect((await send('PUT', '/trusted-issuers/x', trusted)).status).toBe(404)
    const google = {
      issuer: 'https://accounts.google.com',
      rules: [{ clientId: 'orders', claims: { iat: 1 } }],
    }
    for (const [method, at] of [
      ['POST', '/trusted-issuers'],
      ['PUT', path],
    ] as const) {
      const rejected = await send(method, at, google, method === 'PUT' ? '*' : undefined)
      expect([rejected.status, rejected.body.error]).toEqual([
        400,
        'The rule of "https://accounts.google.com" for "orders" must contain the sub or the email of the service account: Google Cloud issues such JWTs to others too.',
      ])
    }
    const [listed] = (await send('GET', '/trusted-issuers')).body
    expect(listed.lastUsedAtMs).toBeGreaterThan(added.createdAtMs - 1)

    expect((await send('DELETE', path)).status).toBe(204)
    expect(await isActive(authUrl, token)).toBe(false)
    expect((await exchange(authUrl, await identity(authUrl))).status).toBe(400)
    const again = (await send('POST', '/trusted-issuers', trusted)).body
    expect(again.id).not.toBe(added.id)
    expect(await isActive(authUrl, token)).toBe(false)
    const log = String((await send('GET', '/audit')).body)
    for (const event of ['added', 'changed', 'removed']) expect(log).toContain(`"trusted_issuer_${event}"`)
  })

  it('leaves configured issuers to the configuration', async () => {
    const { send } = await administeredService({ applications: [orders], trustedIssuers: [trusted] })
    const [{ id, configured }] = (await send('GET', '/trusted-issuers')).body
    expect(configured).toBe(true)
    for (const [method, body] of [['DELETE'], ['PUT', trusted]] as const) {
      const { status, body: failed } = await send(method, `/trusted-issuers/${id}`, body)
      expect([status, failed.error]).toEqual([
        400,
        `"${issuer}" is in the configuration of the service. Change it there.`,
      ])
    }
  })
})

it('is recorded with what a change of it removes', async () => {
  const { send, context } = await administeredService({ applications: [orders] })
  const { id } = (await send('POST', '/trusted-issuers', trusted)).body
  await send('PUT', `/trusted-issuers/${id}`, { ...trusted, jwksUrl: undefined }, '*')
  const [changed] = await context.storage.audit.list(1)
  expect([changed?.event, changed?.changes]).toEqual([
    'trusted_issuer_changed',
    { jwksUrl: { from: jwksUrl } },
  ])
})

it('is configured in a file, which adds, changes and removes issuers at each start', async () => {
  const folder = temporaryFolder()
  const file = join(folder, 'service.yaml')
  const storage = `sqlite:${join(folder, 'service.db')}`
  const other = { ...trusted, issuer: 'https://other.example.com' }
  const changed = { ...trusted, detectReplay: true }
  for (const configured of [[trusted], [changed, other], [changed, other], [other]]) {
    writeFileSync(file, JSON.stringify({ trustedIssuers: configured }))
    const { trustedIssuers } = await readConfiguration(file, {})
    const service = await serviceWithContext({ storage, applications: [orders], trustedIssuers })
    expect(await service.context.storage.trustedIssuers.list()).toMatchObject(
      configured.toSorted((one) => (one === other ? -1 : 1)),
    )
    await service.close()
  }
  const { context } = await serviceWithContext({ storage })
  const entries = await context.storage.audit.list(100, {})
  expect(
    entries.map(({ event, detail }) => `${event} ${detail}`).filter((text) => text.startsWith('trusted')),
  ).toEqual([
    'trusted_issuer_removed https://other.example.com',
    `trusted_issuer_removed ${issuer}`,
    'trusted_issuer_added https://other.example.com',
    `trusted_issuer_changed ${issuer}`,
    `trusted_issuer_added ${issuer}`,
  ])
})

it('is a grant of its own: the form may not repeat another', async () => {
  const { authUrl } = await trustingService()
  const form = { grant_type: 'client_credentials' }
  const { body } = await exchange(authUrl, await identity(authUrl), form)
  expect(body.error_description).toBe('A parameter is malformed : grant_type')
})

it('serves the source jwtBearer, with a JWT access token', async () => {
  const application = { ...orders, tokenFormat: 'jwt', audiences: ['https://api.example.com'] } as const
  const { authUrl } = await trustingService({}, { applications: [application] })
  const tokens = jwtBearer({ authUrl, subject: 'orders', assertion: () => identity(authUrl) })
  const { value } = await tokens.getToken()
  expect(decodeJwt(value)).toMatchObject({
    iss: authUrl,
    client_id: 'orders',
    aud: 'https://api.example.com',
  })
  await tokens.close()
})
