import { exportJWK } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  postgresIsAbsent,
  startPostgres,
  withoutPostgres,
  type PostgresCluster,
} from '@tokenwell/internal-testing/postgres'
import { createProofKey, proofFor, type ProofKey } from '../oauth/dpop-proof.ts'
import { assertionFor, assertionType, jwksOf, keyClientId, pair } from '../oauth/client-assertion.ts'
import { runCommand, temporaryFolder } from '../service-process.ts'
import { application, postForm, testService, tokenPath, type JsonResponse } from '../test-service.ts'
import { createHostileJwts, oddKeys } from './hostile-jwts.ts'

const seconds = () => Math.floor(Date.now() / 1000)
const count = 1_000

const keyApplication = async () => ({
  name: 'by key',
  clientId: keyClientId,
  jwks: await jwksOf(pair.publicKey),
})

const withProof = (authUrl: string, dpop: string): Promise<JsonResponse> => {
  const { clientId, clientSecret } = application
  const form = { client_id: clientId, client_secret: clientSecret }
  return postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, form, { dpop })
}

const withAssertion = (authUrl: string, assertion: string): Promise<JsonResponse> =>
  postForm(`${authUrl}${tokenPath}?grant_type=client_credentials`, {
    client_assertion_type: assertionType,
    client_assertion: assertion,
  })

/** Sends them a few at a time; returns how many got each status. */
async function attack(next: () => Promise<string>, send: (jwt: string) => Promise<JsonResponse>) {
  const statuses = new Map<number, number>()
  let left = count
  async function attacker(): Promise<void> {
    while (left > 0) {
      left -= 1
      const { status } = await send(await next())
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 10 }, attacker))
  return statuses
}

describe('a thousand hostile JWTs', () => {
  it('as DPoP proofs are all rejected', async () => {
    const { authUrl } = await testService({ format: 'standard' })
    const key = await createProofKey()
    const htu = `${authUrl}${tokenPath}`
    const used = await proofFor(htu, key)
    expect((await withProof(authUrl, used)).body.token_type).toBe('DPoP')
    const draft = () => ({
      header: { typ: 'dpop+jwt', alg: key.alg, jwk: key.jwk },
      claims: { jti: crypto.randomUUID(), htm: 'POST', htu, iat: seconds() },
      key: key.privateKey,
    })
    const jwts = await createHostileJwts(20_261_126, draft, {
      jti: [],
      htm: ['GET', 'post', ['POST']],
      htu: [authUrl, `${htu}/`, `${htu}x`, htu.replace('127.0.0.1', 'localhost'), [htu], 'x'],
      iat: [seconds() - 300, seconds() + 300, String(seconds())],
    })
    const keys = oddKeys(key.jwk, await exportJWK(key.privateKey), jwts.strangerJwk)
    const types = ['JWT', 'at+jwt', 'client-authentication+jwt', '', 'dpop', undefined, null]
    const next = () =>
      jwts.next([
        async () => jwts.sign(jwts.withHeader({ jwk: keys[Math.floor(jwts.random() * keys.length)] })),
        async () => jwts.sign(jwts.withHeader({ typ: types[Math.floor(jwts.random() * types.length)] })),
        async () => used,
      ])
    expect(await attack(next, (jwt) => withProof(authUrl, jwt))).toEqual(new Map([[400, count]]))
    expect((await withProof(authUrl, await proofFor(htu, key))).status).toBe(200)
  })

  it('as client assertions are all rejected', async () => {
    const applications = [await keyApplication()]
    const { authUrl } = await testService({ format: 'standard', applications, failureAttempts: 1e6 })
    const used = await assertionFor(authUrl)
    expect((await withAssertion(authUrl, used)).status).toBe(200)
    const draft = () => ({
      header: { alg: 'ES256' },
      claims: {
        iss: keyClientId,
        sub: keyClientId,
        aud: authUrl,
        iat: seconds(),
        exp: seconds() + 60,
        jti: crypto.randomUUID(),
      },
      key: pair.privateKey,
    })
    const jwts = await createHostileJwts(7, draft, {
      iss: ['x', [keyClientId], authUrl],
      sub: ['x', [keyClientId], application.clientId],
      aud: [`${authUrl}/`, [authUrl, 'x'], 'https://elsewhere.example.com', [[authUrl]]],
      exp: [seconds() - 300, seconds() + 86_400, String(seconds() + 60)],
      jti: [],
    })
    const next = () => jwts.next([async () => used])
    const statuses = await attack(next, (jwt) => withAssertion(authUrl, jwt))
    expect(new Set(statuses.keys())).toEqual(new Set([400, 401]))
    expect((await withAssertion(authUrl, await assertionFor(authUrl))).status).toBe(200)
  })
})

describe.skipIf(postgresIsAbsent)(`two processes on one PostgreSQL (${withoutPostgres})`, () => {
  let postgres: PostgresCluster
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres.stop())

  it('accept each DPoP proof and each assertion once together', async () => {
    const publicUrl = 'https://auth.example.com'
    const settings = {
      port: 0,
      publicUrl,
      storage: await postgres.createDatabase(),
      secretHashKeys: ['an instance key of forty characters, more'],
      applications: [application, await keyApplication()],
      format: 'standard',
      failureAttempts: 1_000_000,
    }
    const cwd = temporaryFolder({ 'service.json': JSON.stringify(settings) })
    const start = () => runCommand(['--config', 'service.json'], { cwd }).authUrl
    const urls = [await start(), await start()]
    const key: ProofKey = await createProofKey()
    /** Sends each to both processes at the same time, twice; returns how often each was accepted. */
    const replay = async (
      jwts: readonly string[],
      send: (authUrl: string, jwt: string) => Promise<JsonResponse>,
    ) =>
      Promise.all(
        jwts.map(async (jwt) => {
          const responses = await Promise.all([...urls, ...urls].map((url) => send(url, jwt)))
          return responses.filter(({ status }) => status === 200).length
        }),
      )
    const many = <Item>(create: () => Promise<Item>) => Promise.all(Array.from({ length: 100 }, create))
    const proofs = await many(() => proofFor(`${publicUrl}${tokenPath}`, key))
    expect(new Set(await replay(proofs, withProof))).toEqual(new Set([1]))
    expect(new Set(await replay(proofs, withProof))).toEqual(new Set([0]))
    const assertions = await many(() => assertionFor(publicUrl))
    expect(new Set(await replay(assertions, withAssertion))).toEqual(new Set([1]))
    expect(new Set(await replay(assertions, withAssertion))).toEqual(new Set([0]))
  })
})
