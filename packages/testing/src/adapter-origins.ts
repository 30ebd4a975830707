import { describe, expect, it } from 'vitest'
import { comparable, useAdapterBench } from './adapter-bench.ts'
import type { AdapterUnderTest } from './adapter-under-test.ts'
import { json } from './scripted-server.ts'

/** Where a token goes, and above all where it does not. */
export function describeOrigins(adapter: AdapterUnderTest): void {
  const bench = useAdapterBench(adapter)

  describe('another origin', () => {
    const host = (origin: string) => new URL(origin).host

    it.each<[string, () => string]>([
      ['another port', () => `${bench.other.origin}/x`],
      ['another name of the same host', () => bench.api.origin.replace('127.0.0.1', 'localhost')],
      [
        'another spelling that ends in the allowed host',
        () => `http://${host(bench.api.origin)}@${host(bench.other.origin)}/x`,
      ],
      [
        'the allowed origin as user info',
        () => bench.other.origin.replace('//', `//${host(bench.api.origin).replace(':', '%3A')}@`),
      ],
      ['the allowed origin in the path', () => `${bench.other.origin}/${bench.api.origin}/x`],
      ['a sub-domain', () => bench.api.origin.replace('//127', '//api.127')],
      ['another scheme', () => bench.api.origin.replace('http:', 'https:')],
      ['an address without a scheme', () => `//${host(bench.other.origin)}/x`],
      ['a backslash', () => `http://${host(bench.other.origin)}\\@${host(bench.api.origin)}/`],
      ['a control character', () => `http://${host(bench.other.origin)}/\t@${host(bench.api.origin)}`],
    ])('is asked as the bare client asks it, without a token: %s', async (_name, url) => {
      const servers = [bench.api, bench.other]
      const expected = await bench.outcomeOf(bench.bare, { url: url() })
      const seen = servers.map((server) => comparable(server.requests.splice(0)))
      expect(await bench.outcomeOf(bench.client, { url: url() })).toStrictEqual(expected)
      expect(servers.map((server) => comparable(server.requests))).toStrictEqual(seen)
      // None was even asked for.
      expect(bench.endpoint.requests).toHaveLength(0)
    })

    it('is named in an event', async () => {
      await bench.client({ url: bench.other.origin })
      expect(bench.events).toContainEqual({ type: 'token_withheld', origin: bench.other.origin })
    })
  })

  describe('a header of one’s own', () => {
    const header = 'X-Api-Token'
    const value = () => `Key ${bench.endpoint.issued[0]}`

    it('carries the token, with a scheme of one’s own', async () => {
      bench.api.answer = () => json({ accepted: true })
      const withKey = await bench.createClient({ header, scheme: 'Key' })
      await withKey({ url: bench.api.origin })
      const withoutScheme = await bench.createClient({ header, scheme: '' })
      await withoutScheme({ url: bench.api.origin })
      const [first, second] = bench.api.requests
      expect(first?.headers).toMatchObject({ 'x-api-token': value() })
      expect(second?.headers).toMatchObject({ 'x-api-token': bench.endpoint.issued[0] })
      expect(first?.headers).not.toHaveProperty('authorization')
    })

    it.each([301, 302, 307, 308])(
      'stays at home when a %i leads elsewhere: it is not followed',
      async (status) => {
        bench.api.answer = () => ({ status, headers: { location: `${bench.other.origin}/to` } })
        const client = await bench.createClient({ header, scheme: 'Key' })
        expect((await client({ url: bench.api.origin })).status).toBe(status)
        const body = { kind: 'json', value: {} } as const
        expect((await client({ url: bench.api.origin, body })).status).toBe(status)
        expect(bench.api.requests).toHaveLength(2)
        expect(bench.other.requests).toHaveLength(0)
      },
    )

    it('follows a redirect where no token went', async () => {
      bench.other.answer = ({ url }) =>
        url === '/from' ? { status: 302, headers: { location: '/to' } } : json({ arrived: true })
      const client = await bench.createClient({ header })
      expect((await client({ url: `${bench.other.origin}/from` })).text).toBe('{"arrived":true}')
    })

    it('is renewed and sent again like any other', async () => {
      bench.api.answer = ({ headers }) =>
        headers['x-api-token'] === value() ? json({}, 401) : json({ accepted: true })
      const client = await bench.createClient({ header, scheme: 'Key' })
      expect((await client({ url: bench.api.origin })).status).toBe(200)
      expect(bench.endpoint.issued).toHaveLength(2)
    })
  })

  it('refuses to be made without an allowed origin, and says what to write', async () => {
    const error: unknown = await bench.createClient({ allowedOrigins: [] }).catch((error: unknown) => error)
    expect(error).toMatchObject({
      kind: 'configuration',
      message: expect.stringMatching(/allowedOrigins.*https:\/\/api\.example\.com/s),
    })
  })
}
