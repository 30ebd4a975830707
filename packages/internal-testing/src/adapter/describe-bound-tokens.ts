import { beforeEach, describe, expect, it } from 'vitest'
import { clientCredentials } from '@tokenwell/core'
import { expectNoSecrets } from '../expect-no-secrets.ts'
import { invalidTokenChallenge } from '../servers/protected-api.ts'
import { json, type ReceivedRequest } from '../servers/scripted-server.ts'
import { createTestBinding, nonceChallenge, proofOf } from '../servers/test-binding.ts'
import { useAdapterFixture, type AdapterUnderTest } from './adapter-under-test.ts'

/** Tokens that are bound to a key (RFC 9449): each request proves possession of it. */
export function describeBoundTokens(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)
  /** The nonce that the API requires; undefined if it requires none. */
  let nonce: string | undefined

  beforeEach(async () => {
    nonce = undefined
    const { endpoint, api } = fixture
    await fixture.tokens.close()
    const credentials = {
      tokenEndpoint: `${endpoint.origin}/token`,
      clientId: 'a-client',
      clientSecret: 'a-secret',
    }
    fixture.tokens = clientCredentials({ ...credentials, binding: createTestBinding() })
    fixture.client = await fixture.createClient()
    const seen = new Set<string>()
    api.respond = (request) => {
      const proof = proofOf(request)
      const token = /^DPoP (.+)$/.exec(request.headers.authorization ?? '')?.[1]
      const isValid =
        proof !== undefined &&
        token !== undefined &&
        proof.accessToken === token &&
        proof.method === request.method &&
        proof.url === new URL(request.url, api.origin).href.replace(/\?.*/, '') &&
        !seen.has(proof.id)
      if (!isValid) return json({ invalid: proof ?? 'no proof' }, 400)
      seen.add(proof.id)
      if (nonce !== undefined && proof.nonce !== nonce) return nonceChallenge(nonce)
      if (api.rejects(token)) return json({}, 401, { 'www-authenticate': invalidTokenChallenge })
      return json({ accepted: true }, 200, nonce === undefined ? {} : { 'dpop-nonce': nonce })
    }
  })
  const post = (path = '/orders?page=1') => ({
    url: fixture.api.origin + path,
    body: { kind: 'json', value: { a: 1 } } as const,
  })

  describe('a bound token', () => {
    it('is sent with a proof for the method, the URL and the token', async () => {
      expect((await fixture.client({ url: `${fixture.api.origin}/a%20b/c?x=1` })).status).toBe(200)
      expect((await fixture.client(post())).status).toBe(200)
      expect((await fixture.client({ ...post(), method: 'PATCH' })).status).toBe(200)
    })

    it('is sent once more with the nonce that an API requires, which later requests reuse', async () => {
      nonce = 'first'
      expect((await fixture.client(post())).status).toBe(200)
      expect(fixture.api.requests).toHaveLength(2)
      expect(fixture.api.requests[1]!.body).toBe(fixture.api.requests[0]!.body)
      expect((await fixture.client(post())).status).toBe(200)
      expect(fixture.api.requests).toHaveLength(3)
      expect(fixture.endpoint.issued).toHaveLength(1)
    })

    it('uses the nonce of a successful response for the next request', async () => {
      const { respond } = fixture.api
      fixture.api.respond = async (request) => {
        const response = await respond(request)
        nonce = 'next'
        return response === 'drop'
          ? response
          : { ...response, headers: { ...response.headers, 'dpop-nonce': nonce } }
      }
      await fixture.client({ url: fixture.api.origin })
      expect((await fixture.client({ url: fixture.api.origin })).status).toBe(200)
      expect(fixture.api.requests).toHaveLength(2)
    })

    it('is sent at most twice to an API that accepts no nonce', async () => {
      let count = 0
      fixture.api.respond = () => nonceChallenge(`nonce-${++count}`)
      expect((await fixture.client(post())).status).toBe(401)
      expect(fixture.api.requests).toHaveLength(2)
      expect(fixture.endpoint.issued).toHaveLength(1)
    })

    it('is not sent to the target of a redirect', async () => {
      fixture.api.respond = () => ({ status: 302, headers: { location: '/elsewhere' } })
      expect((await fixture.client({ url: fixture.api.origin })).status).toBe(302)
      expect(fixture.api.requests).toHaveLength(1)
    })

    it('is replaced once for 200 concurrent requests if it is revoked, and none fails', async () => {
      await fixture.client(post())
      const [revoked] = fixture.endpoint.issued
      fixture.api.rejects = (token) => token === revoked
      nonce = 'required from now on'
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, index) => fixture.client(post(`/${index}`))),
      )
      expect(results.filter(({ status }) => status !== 200)).toStrictEqual([])
      expect(fixture.endpoint.issued).toHaveLength(2)
    })

    it('does not appear in a logged response or error, and neither does its proof', async () => {
      nonce = 'a-nonce-of-the-api'
      const outcomes = [await outcome(post())]
      fixture.api.respond = () => json({}, 500)
      outcomes.push(await outcome(post()))
      fixture.api.respond = () => 'drop'
      outcomes.push(await outcome(post()))
      const ids = fixture.api.requests.map((request: ReceivedRequest) => proofOf(request)!.id)
      expect(ids.length).toBeGreaterThan(3)
      expectNoSecrets(outcomes.slice(1), [...ids, ...fixture.endpoint.issued, nonce])
    })
  })

  const outcome = (request: Parameters<typeof fixture.client>[0]): Promise<unknown> =>
    fixture.client(request).then(
      ({ received }) => received,
      (error: unknown) => error,
    )
}
