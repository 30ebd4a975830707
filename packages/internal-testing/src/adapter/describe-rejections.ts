import { describe, expect, it } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { json, noResponse } from '../servers/scripted-server.ts'
import { useAdapterFixture, type AdapterUnderTest } from './adapter-under-test.ts'

/** Rejected tokens, missing tokens and requests that need none. */
export function describeRejections(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)
  const post = (path = '/') => ({
    url: fixture.api.origin + path,
    body: { kind: 'json', value: { a: 1 } } as const,
  })

  describe('a rejected token', () => {
    it('causes one token request and no failure for 200 concurrent requests', async () => {
      await fixture.client(post())
      const [revoked] = fixture.endpoint.issued
      fixture.api.rejects = (token) => token === revoked
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, index) => fixture.client(post(`/${index}`))),
      )
      expect(results.filter(({ status }) => status !== 200)).toStrictEqual([])
      expect(fixture.endpoint.issued).toHaveLength(2)
    })

    it('is recognised by a gateway fault in the body, which the caller can still read', async () => {
      const fault = { fault: { detail: { errorcode: 'keymanagement.service.access_token_expired' } } }
      fixture.api.respond = () => json(fault, 500)
      const { status, text } = await fixture.client(post())
      expect({ status, text }).toStrictEqual({ status: 500, text: JSON.stringify(fault) })
      expect(fixture.endpoint.issued).toHaveLength(2)
    })

    it.each([203, 300])('is recognised by `isTokenRejected`, whatever the status: %i', async (status) => {
      fixture.api.respond = ({ headers }) =>
        headers.authorization === `Bearer ${fixture.endpoint.issued[0]}` ? { status } : json({})
      const client = await fixture.createClient({
        isTokenRejected: (response) => response.status === status,
      })
      expect((await client(post())).status).toBe(200)
      expect(fixture.api.tokens).toStrictEqual([...fixture.endpoint.issued])
      expect(fixture.endpoint.issued).toHaveLength(2)
    })

    it('is not recognised by a 401 from an origin that did not receive it', async () => {
      fixture.api.respond = () => ({ status: 302, headers: { location: `${fixture.other.origin}/login` } })
      const { status } = await fixture.client({ url: fixture.api.origin })
      expect(status).toBe(401)
      expect(fixture.endpoint.issued).toHaveLength(1)
      expect(fixture.api.requests).toHaveLength(1)
    })

    it('is replaced without repeating the request with `retryOnRejection: false`', async () => {
      fixture.api.rejects = (token) => token === fixture.endpoint.issued[0]
      const client = await fixture.createClient({ retryOnRejection: false })
      expect((await client(post())).status).toBe(401)
      expect((await client(post())).status).toBe(200)
      expect(fixture.api.tokens).toStrictEqual([...fixture.endpoint.issued])
    })

    it('fails with the error of the token service if no new token can be acquired', async () => {
      await fixture.client(post())
      fixture.api.rejects = () => true
      fixture.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
      const error: unknown = await fixture.client(post()).catch((thrown: unknown) => thrown)
      expect(adapter.tokenErrorOf(error)).toMatchObject({ kind: 'credentials', oauthError: 'invalid_client' })
    })

    it('lets a caller abort while waiting for a new token', async () => {
      await fixture.client(post())
      fixture.api.rejects = () => true
      fixture.endpoint.respond = () => noResponse
      const controller = new AbortController()
      const outcome = fixture.outcomeOf(fixture.client, { ...post(), signal: controller.signal })
      await fixture.endpoint.nextRequest()
      controller.abort()
      expect(await outcome).not.toHaveProperty('status')
    })

    it('lets a request time out while waiting for a new token', async () => {
      await fixture.client(post())
      fixture.api.rejects = () => true
      fixture.endpoint.respond = () => noResponse
      expect(await fixture.outcomeOf(fixture.client, { ...post(), timeoutMs: 200 })).not.toHaveProperty(
        'status',
      )
    })
  })

  describe('a token that cannot be acquired', () => {
    it('fails the request, which is not sent', async () => {
      fixture.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
      const error: unknown = await fixture.client(post()).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(Error)
      expect(adapter.tokenErrorOf(error)).toBeInstanceOf(TokenError)
      expect(adapter.tokenErrorOf(error)).toMatchObject({ kind: 'credentials', oauthError: 'invalid_client' })
      expect(fixture.api.requests).toHaveLength(0)
    })

    it('fails the request if the provider is closed', async () => {
      await fixture.tokens.close()
      const error: unknown = await fixture.client(post()).catch((error: unknown) => error)
      expect(adapter.tokenErrorOf(error)).toMatchObject({ kind: 'aborted' })
      expect(fixture.api.requests).toHaveLength(0)
    })
  })

  describe('a request without a token', () => {
    it('keeps the header that the caller set, and is not repeated after a rejection', async () => {
      const headers = { AUTHORIZATION: 'Bearer from-the-caller' }
      expect((await fixture.client({ ...post(), headers })).status).toBe(200)
      fixture.api.rejects = () => true
      expect((await fixture.client({ ...post(), headers })).status).toBe(401)
      expect(fixture.api.tokens).toStrictEqual(['from-the-caller', 'from-the-caller'])
      expect(fixture.endpoint.requests).toHaveLength(0)
    })

    it('is sent without one if it opts out', async () => {
      const { status } = await fixture.client({ ...post(), token: false })
      expect(status).toBe(401)
      expect(fixture.api.tokens).toStrictEqual([undefined])
      expect(fixture.endpoint.requests).toHaveLength(0)
    })
  })

  it('keeps two clients with different options apart', async () => {
    const client = await fixture.createClient({ allowedOrigins: [fixture.other.origin], scheme: 'Bearer' })
    await Promise.all([fixture.client(post()), client({ url: fixture.other.origin }), client(post())])
    expect(fixture.api.tokens).toContain(undefined)
    expect(fixture.other.tokens).toStrictEqual([fixture.endpoint.issued[0]])
  })
}
