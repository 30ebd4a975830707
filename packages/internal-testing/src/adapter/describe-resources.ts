import { beforeEach, describe, expect, it } from 'vitest'
import { createTokenProvider } from '@tokenwell/core'
import { invalidTokenChallenge } from '../servers/protected-api.ts'
import { useAdapterFixture, type AdapterUnderTest } from './adapter-under-test.ts'

/** Tokens for one resource of an origin, whose source learns from the API where they come from (RFC 9728). */
export function describeResources(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)
  let challenges: (string | undefined)[]

  beforeEach(async () => {
    challenges = []
    await fixture.tokens.close()
    const resource = `${fixture.api.origin}/mcp`
    let tokens = 0
    let hasAsked = false
    fixture.tokens = createTokenProvider({
      resource,
      cacheKey: async () => resource,
      sendFirst(request) {
        if (hasAsked) return undefined
        hasAsked = true
        return request.send().then(({ challenge, result }) => {
          challenges.push(challenge)
          return challenge === undefined ? result : undefined
        })
      },
      async requestToken({ challenge }) {
        hasAsked = true
        if (challenge) challenges.push(challenge.header)
        return { accessToken: `t${++tokens}`, tokenType: 'Bearer', expiresIn: 600, scope: [] }
      },
    })
    fixture.client = await fixture.createClient()
  })
  const get = () => ({ url: `${fixture.api.origin}/mcp` })

  describe('a token for one resource', () => {
    it('is requested with what the API responds to the first request, which is sent again with it', async () => {
      expect((await fixture.client(get())).status).toBe(200)
      expect(fixture.api.tokens).toStrictEqual([undefined, 't1'])
      const [first, second] = fixture.api.requests.map(({ method, url, body }) => ({ method, url, body }))
      expect(second).toStrictEqual(first)
      expect(challenges).toStrictEqual([invalidTokenChallenge])
      // The next one is no longer sent without a token.
      expect((await fixture.client(get())).status).toBe(200)
      expect(fixture.api.tokens).toStrictEqual([undefined, 't1', 't1'])
    })

    it('is not requested with a request that the API accepts without it', async () => {
      fixture.api.respond = () => ({ status: 200, body: 'public' })
      expect(await fixture.client(get())).toMatchObject({ status: 200, text: 'public' })
      expect(fixture.api.tokens).toStrictEqual([undefined])
      expect(challenges).toStrictEqual([undefined])
    })

    it('is replaced with what the API responds to the one that it rejects', async () => {
      await fixture.client(get())
      fixture.api.rejects = (token) => token === 't1'
      expect((await fixture.client(get())).status).toBe(200)
      expect(challenges).toStrictEqual([invalidTokenChallenge, invalidTokenChallenge])
    })

    it('goes to the resource and to what is below it', async () => {
      await fixture.tokens.getToken()
      const paths = ['/mcp', '/mcp/', '/mcp/tools?a=b', '/mcp?a=b', '/mcp2', '/', '/other/mcp']
      for (const path of paths) await fixture.client({ url: fixture.api.origin + path })
      expect(fixture.api.tokens).toStrictEqual(['t1', 't1', 't1', 't1', undefined, undefined, undefined])
    })

    it('does not follow a redirect to another one', async () => {
      await fixture.tokens.getToken()
      const { respond } = fixture.api
      fixture.api.respond = (request) =>
        request.url === '/mcp' ? { status: 302, headers: { location: '/mcp2' } } : respond(request)
      const result = await fixture.client({ url: `${fixture.api.origin}/mcp` })
      expect([302, 401]).toContain(result.status)
      expect(fixture.api.tokens.slice(1).filter(Boolean)).toStrictEqual([])
    })
  })
}
