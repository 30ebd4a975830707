import { TokenError } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { useAdapterBench } from './adapter-bench.ts'
import type { AdapterUnderTest } from './adapter-under-test.ts'
import { json, silence } from './scripted-server.ts'

/** What happens around a refused token, a missing one, and one that is not wanted. */
export function describeRefusals(adapter: AdapterUnderTest): void {
  const bench = useAdapterBench(adapter)
  const post = (path = '/') => ({
    url: bench.api.origin + path,
    body: { kind: 'json', value: { a: 1 } } as const,
  })

  describe('a refused token', () => {
    it('costs 200 requests under way one token request, and none of them', async () => {
      await bench.client(post())
      const [revoked] = bench.endpoint.issued
      bench.api.refuses = (token) => token === revoked
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, index) => bench.client(post(`/${index}`))),
      )
      expect(answers.filter(({ status }) => status !== 200)).toStrictEqual([])
      expect(bench.endpoint.issued).toHaveLength(2)
    })

    it('is known by the gateway’s fault in the body, which stays whole for the caller', async () => {
      const fault = { fault: { detail: { errorcode: 'keymanagement.service.access_token_expired' } } }
      bench.api.answer = () => json(fault, 500)
      const { status, text } = await bench.client(post())
      expect({ status, text }).toStrictEqual({ status: 500, text: JSON.stringify(fault) })
      expect(bench.endpoint.issued).toHaveLength(2)
    })

    // Where the client tells nobody in the end whence an answer came, there is nothing to go by.
    if (!adapter.hidesAddress) {
      it('is not known by a 401 from where the token did not go', async () => {
        bench.api.answer = () => ({ status: 302, headers: { location: `${bench.other.origin}/login` } })
        const { status } = await bench.client({ url: bench.api.origin })
        expect(status).toBe(401)
        expect(bench.endpoint.issued).toHaveLength(1)
        expect(bench.api.requests).toHaveLength(1)
      })
    }

    it('is replaced, but its request is not repeated, where the caller wants no repetition', async () => {
      bench.api.refuses = (token) => token === bench.endpoint.issued[0]
      const client = await bench.createClient({ retryOnRejection: false })
      expect((await client(post())).status).toBe(401)
      expect((await client(post())).status).toBe(200)
      expect(bench.api.tokens).toStrictEqual([...bench.endpoint.issued])
    })

    it('leaves the first answer to the caller where no new token can be had', async () => {
      await bench.client(post())
      bench.api.refuses = () => true
      bench.endpoint.answer = () => json({ error: 'invalid_client' }, 401)
      const { status, text } = await bench.client(post())
      expect({ status, text }).toStrictEqual({ status: 401, text: '{"refused":2}' })
    })

    it('lets a caller leave while the next is awaited', async () => {
      await bench.client(post())
      bench.api.refuses = () => true
      bench.endpoint.answer = () => silence
      const controller = new AbortController()
      const outcome = bench.outcomeOf(bench.client, { ...post(), signal: controller.signal })
      await bench.endpoint.nextRequest()
      controller.abort()
      expect(await outcome).not.toHaveProperty('status')
    })

    it('lets the time of a request end while the next is awaited', async () => {
      await bench.client(post())
      bench.api.refuses = () => true
      bench.endpoint.answer = () => silence
      expect(await bench.outcomeOf(bench.client, { ...post(), timeoutMs: 200 })).not.toHaveProperty('status')
    })
  })

  describe('a token that cannot be had', () => {
    it('fails the request, which is not sent', async () => {
      bench.endpoint.answer = () => json({ error: 'invalid_client' }, 401)
      const error: unknown = await bench.client(post()).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(Error)
      expect(adapter.tokenErrorOf(error)).toBeInstanceOf(TokenError)
      expect(adapter.tokenErrorOf(error)).toMatchObject({ kind: 'credentials', oauthError: 'invalid_client' })
      expect(bench.api.requests).toHaveLength(0)
    })

    it('fails the request when the provider was closed', async () => {
      await bench.tokens.close()
      const error: unknown = await bench.client(post()).catch((error: unknown) => error)
      expect(adapter.tokenErrorOf(error)).toMatchObject({ kind: 'aborted' })
      expect(bench.api.requests).toHaveLength(0)
    })
  })

  describe('a token that is not wanted', () => {
    it('is not asked for where the caller set the header, nor is that request repeated', async () => {
      const headers = { AUTHORIZATION: 'Bearer of-my-own' }
      expect((await bench.client({ ...post(), headers })).status).toBe(200)
      bench.api.refuses = () => true
      expect((await bench.client({ ...post(), headers })).status).toBe(401)
      expect(bench.api.tokens).toStrictEqual(['of-my-own', 'of-my-own'])
      expect(bench.endpoint.requests).toHaveLength(0)
    })

    it('is not asked for by a request that opts out', async () => {
      const { status } = await bench.client({ ...post(), token: false })
      expect(status).toBe(401)
      expect(bench.api.tokens).toStrictEqual([undefined])
      expect(bench.endpoint.requests).toHaveLength(0)
    })
  })

  it('keeps two clients with two providers apart', async () => {
    const client = await bench.createClient({ allowedOrigins: [bench.other.origin], scheme: 'Bearer' })
    await Promise.all([bench.client(post()), client({ url: bench.other.origin }), client(post())])
    expect(bench.api.tokens).toContain(undefined)
    expect(bench.other.tokens).toStrictEqual([bench.endpoint.issued[0]])
  })
}
