import { decodeJwt, exportJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import type { ApplicationOptions, TokenServiceOptions } from '@tokenwell/token-service'
import {
  administeredService,
  application,
  introspect,
  postForm,
  testService,
  tokenPath,
} from '../test-service.ts'
import { createProofKey, proofFor, type ProofChanges } from './dpop-proof.ts'

const [key, otherKey] = await Promise.all([createProofKey(), createProofKey()])
const privateJwk = await exportJWK(key.privateKey)
const now = () => Math.floor(Date.now() / 1000)

async function service(changes: Partial<ApplicationOptions> = {}, options: TokenServiceOptions = {}) {
  const applications = [{ ...application, ...changes }]
  const { authUrl } = await testService({ format: 'standard', applications, ...options })
  const endpoint = `${authUrl}${tokenPath}`
  const request = async (dpop: string | undefined, form: Record<string, string> = {}) => {
    const { clientId, clientSecret } = application
    const all = { client_id: clientId, client_secret: clientSecret, ...form }
    const url = `${endpoint}?grant_type=client_credentials`
    return postForm(url, all, dpop === undefined ? {} : { dpop })
  }
  return {
    authUrl,
    endpoint,
    request,
    outcome: async (changed: ProofChanges = {}) => {
      const { status, body } = await request(await proofFor(endpoint, key, changed))
      return status === 200
        ? body.token_type
        : `${status} ${body.error}${/ : \w+$/.exec(body.error_description)?.[0] ?? ''}`
    },
  }
}

describe('a token request with a DPoP proof', () => {
  it.each(['products', 'refresh', 'rfc6749'] as const)(
    'gets a token that is bound to its key (%s)',
    async (responseForm) => {
      const { authUrl, endpoint, request } = await service({ responseForm })
      const { status, body } = await request(await proofFor(endpoint, key))
      expect([status, body.token_type]).toEqual([200, 'DPoP'])
      const introspected = await introspect(authUrl, body.access_token)
      expect(introspected.body).toMatchObject({
        active: true,
        token_type: 'DPoP',
        cnf: { jkt: key.thumbprint },
      })
    },
  )

  it('gets a JWT that names its key', async () => {
    const { authUrl, endpoint, request } = await service({ tokenFormat: 'jwt', audiences: ['orders'] })
    const { body } = await request(await proofFor(endpoint, key))
    expect(decodeJwt(body.access_token)).toMatchObject({ aud: 'orders', cnf: { jkt: key.thumbprint } })
    expect((await introspect(authUrl, body.access_token)).body.cnf).toEqual({ jkt: key.thumbprint })
  })

  it.each(['RS256', 'PS256', 'ES384', 'EdDSA'])('may use %s', async (alg) => {
    const { endpoint, request } = await service()
    const other = await createProofKey(alg)
    expect((await request(await proofFor(endpoint, other))).body.token_type).toBe('DPoP')
  })

  it('may name the endpoint with its query, and a clock that is off by up to a minute', async () => {
    const { endpoint, outcome } = await service()
    expect(await outcome({ claims: { htu: `${endpoint}?grant_type=client_credentials#x` } })).toBe('DPoP')
    for (const seconds of [-100, 50]) expect(await outcome({ claims: { iat: now() + seconds } })).toBe('DPoP')
  })

  it.each<[string, ProofChanges, string?]>([
    ['of another method', { claims: { htm: 'GET' } }, 'htm'],
    ['of a method in lower case', { claims: { htm: 'post' } }, 'htm'],
    ['for another endpoint', { claims: { htu: 'https://elsewhere.example.com/token' } }, 'htu'],
    ['for no endpoint', { claims: { htu: undefined } }, 'htu'],
    ['without a method', { claims: { htm: undefined } }, 'htm'],
    ['without an ID', { claims: { jti: undefined } }, 'jti'],
    ['with an empty ID', { claims: { jti: '' } }, 'jti'],
    ['with an endless ID', { claims: { jti: 'x'.repeat(513) } }, 'jti'],
    ['without a time', { claims: { iat: undefined } }, 'iat'],
    ['that is old', { claims: { iat: now() - 200 } }, 'iat'],
    ['from the future', { claims: { iat: now() + 200 } }, 'iat'],
    ['that is another kind of JWT', { header: { typ: 'JWT' } }, 'typ'],
    ['that another key signed', { signWith: otherKey.privateKey }],
    ['with a private key', { header: { jwk: privateJwk } }],
    ['without a key', { header: { jwk: undefined } }],
    [
      'with a symmetric key',
      { header: { alg: 'HS256', jwk: { kty: 'oct', k: 'c2VjcmV0' } }, signWith: Buffer.from('secret') },
    ],
  ])('%s is rejected', async (_case, changes, claim) => {
    const { outcome } = await service()
    expect(await outcome(changes)).toBe(`400 invalid_dpop_proof${claim === undefined ? '' : ` : ${claim}`}`)
  })

  it.each(['x', 'a.b.c', ''])('is rejected if it is no JWT: %j', async (text) => {
    const { request } = await service({ dpop: 'required' })
    const { status, body } = await request(text)
    expect([status, body.error]).toEqual([400, 'invalid_dpop_proof'])
  })

  it('has one proof: two are none', async () => {
    const { endpoint, request } = await service()
    const two = `${await proofFor(endpoint, key)}, ${await proofFor(endpoint, key)}`
    expect((await request(two)).body.error).toBe('invalid_dpop_proof')
  })

  it('is accepted once, however many arrive together', async () => {
    const { endpoint, request } = await service()
    const proof = await proofFor(endpoint, key)
    const responses = await Promise.all(Array.from({ length: 20 }, () => request(proof)))
    const accepted = responses.filter(({ status }) => status === 200)
    expect(accepted).toHaveLength(1)
    expect(responses.find(({ status }) => status !== 200)?.body.error_description).toMatch(
      /already used : jti$/,
    )
  })

  it('may be repeated with its proof if the proof was not the problem', async () => {
    const { endpoint, request } = await service({ responseForm: 'rfc6749' })
    const proof = await proofFor(endpoint, key)
    expect((await request(proof, { client_secret: 'wrong' })).body.error).toBe('invalid_client')
    expect((await request(proof, { scope: 'unknown' })).body.error).toBe('invalid_scope')
    expect((await request(proof)).status).toBe(200)
  })

  it('is announced in the metadata', async () => {
    const { authUrl } = await service()
    const response = await fetch(`${authUrl}/.well-known/openid-configuration`)
    const metadata = (await response.json()) as Record<string, string[]>
    expect(metadata['dpop_signing_alg_values_supported']).toEqual(expect.arrayContaining(['ES256', 'EdDSA']))
  })
})

describe('an application', () => {
  it('gets Bearer tokens without a proof, unless it requires one', async () => {
    const allowed = await service()
    expect((await allowed.request(undefined)).body.token_type).toBe('Bearer')
    const required = await service({ dpop: 'required' })
    const { status, body } = await required.request(undefined)
    expect([status, body]).toEqual([
      400,
      {
        error: 'invalid_dpop_proof',
        error_description: 'The application needs a DPoP proof for each token request',
      },
    ])
    expect(await required.outcome()).toBe('DPoP')
  })

  it('gets Bearer tokens with a proof too, if its tokens are never bound', async () => {
    const { outcome } = await service({ dpop: 'none' })
    expect(await outcome()).toBe('Bearer')
    expect(await outcome({ claims: { htm: 'GET' } })).toBe('Bearer')
  })

  it('is changed by an administrator', async () => {
    const { authUrl, send } = await administeredService()
    const path = `/applications/${application.clientId}`
    expect((await send('GET', path)).body.dpop).toBe('allowed')
    expect((await send('PATCH', path, { dpop: 'required' })).body.dpop).toBe('required')
    const { clientId, clientSecret } = application
    const form = { client_id: clientId, client_secret: clientSecret }
    const url = `${authUrl}${tokenPath}?grant_type=client_credentials`
    expect((await postForm(url, form)).body.ErrorCode).toBe('invalid_dpop_proof')
    expect((await send('PATCH', path, { dpop: 'sometimes' })).status).toBe(400)
  })
})

it('the sandbox issues a JWT that is bound to another key', async () => {
  const applications = [{ ...application, tokenFormat: 'jwt' as const, audiences: ['orders'] }]
  const { authUrl, sandboxUrl } = await testService({ applications, sandbox: true })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jwt: 'wrong_binding' })
  await fetch(`${sandboxUrl}/faults`, { method: 'POST', headers, body })
  const { clientId, clientSecret } = application
  const url = `${authUrl}${tokenPath}`
  const response = await postForm(
    `${url}?grant_type=client_credentials`,
    { client_id: clientId, client_secret: clientSecret },
    { dpop: await proofFor(url, key) },
  )
  const { cnf } = decodeJwt<{ cnf: { jkt: string } }>(response.body.access_token)
  expect(cnf.jkt).toMatch(/^[\w-]{43}$/)
  expect(cnf.jkt).not.toBe(key.thumbprint)
})
