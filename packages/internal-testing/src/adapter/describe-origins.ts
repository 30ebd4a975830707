import { describe, expect, it } from 'vitest'
import { json } from '../servers/scripted-server.ts'
import { comparable, useAdapterFixture, type AdapterUnderTest } from './adapter-under-test.ts'

/** Which origins receive the token, and which do not. */
export function describeOrigins(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)

  describe('a request to another origin', () => {
    const host = (origin: string) => new URL(origin).host

    it.each<[string, () => string]>([
      ['another port', () => `${fixture.other.origin}/x`],
      ['another name for the same host', () => fixture.api.origin.replace('127.0.0.1', 'localhost')],
      [
        'the allowed host as user name',
        () => `http://${host(fixture.api.origin)}@${host(fixture.other.origin)}/x`,
      ],
      [
        'the allowed host and port as user name',
        () => fixture.other.origin.replace('//', `//${host(fixture.api.origin).replace(':', '%3A')}@`),
      ],
      ['the allowed origin in the path', () => `${fixture.other.origin}/${fixture.api.origin}/x`],
      ['a subdomain', () => fixture.api.origin.replace('//127', '//api.127')],
      ['another scheme', () => fixture.api.origin.replace('http:', 'https:')],
      ['a URL without a scheme', () => `//${host(fixture.other.origin)}/x`],
      ['a backslash', () => `http://${host(fixture.other.origin)}\\@${host(fixture.api.origin)}/`],
      ['a control character', () => `http://${host(fixture.other.origin)}/\t@${host(fixture.api.origin)}`],
    ])('is sent as the plain client sends it, without a token: %s', async (_name, url) => {
      const servers = [fixture.api, fixture.other]
      const expected = await fixture.outcomeOf(fixture.plain, { url: url() })
      const received = servers.map((server) => comparable(server.requests.splice(0)))
      expect(await fixture.outcomeOf(fixture.client, { url: url() })).toStrictEqual(expected)
      expect(servers.map((server) => comparable(server.requests))).toStrictEqual(received)
      // No token was requested.
      expect(fixture.endpoint.requests).toHaveLength(0)
    })

    it('is reported in an event', async () => {
      await fixture.client({ url: fixture.other.origin })
      expect(fixture.events).toContainEqual(
        expect.objectContaining({ type: 'token_withheld', origin: fixture.other.origin }),
      )
    })
  })

  describe('a custom header', () => {
    const header = 'X-Api-Token'
    const value = () => `Key ${fixture.endpoint.issued[0]}`

    it('carries the token with the configured scheme', async () => {
      fixture.api.respond = () => json({ accepted: true })
      const withKey = await fixture.createClient({ header, scheme: 'Key' })
      await withKey({ url: fixture.api.origin })
      const withoutScheme = await fixture.createClient({ header, scheme: '' })
      await withoutScheme({ url: fixture.api.origin })
      const [first, second] = fixture.api.requests
      expect(first?.headers).toMatchObject({ 'x-api-token': value() })
      expect(second?.headers).toMatchObject({ 'x-api-token': fixture.endpoint.issued[0] })
      expect(first?.headers).not.toHaveProperty('authorization')
    })

    it.each([301, 302, 307, 308])(
      'is not sent to another origin, because a %i to one is not followed',
      async (status) => {
        fixture.api.respond = () => ({ status, headers: { location: `${fixture.other.origin}/to` } })
        const client = await fixture.createClient({ header, scheme: 'Key' })
        expect((await client({ url: fixture.api.origin })).status).toBe(status)
        const body = { kind: 'json', value: {} } as const
        expect((await client({ url: fixture.api.origin, body })).status).toBe(status)
        expect(fixture.api.requests).toHaveLength(2)
        expect(fixture.other.requests).toHaveLength(0)
      },
    )

    it('does not affect the redirects of requests without a token', async () => {
      fixture.other.respond = ({ url }) =>
        url === '/from' ? { status: 302, headers: { location: '/to' } } : json({ arrived: true })
      const client = await fixture.createClient({ header })
      expect((await client({ url: `${fixture.other.origin}/from` })).text).toBe('{"arrived":true}')
    })

    it('is sent again with a new token after a rejection', async () => {
      fixture.api.respond = ({ headers }) =>
        headers['x-api-token'] === value() ? json({}, 401) : json({ accepted: true })
      const client = await fixture.createClient({ header, scheme: 'Key' })
      expect((await client({ url: fixture.api.origin })).status).toBe(200)
      expect(fixture.endpoint.issued).toHaveLength(2)
    })
  })

  it('throws if no origin is allowed, with an example in the message', async () => {
    const error: unknown = await fixture.createClient({ allowedOrigins: [] }).catch((error: unknown) => error)
    expect(error).toMatchObject({
      kind: 'configuration',
      message: expect.stringMatching(/allowedOrigins.*https:\/\/api\.example\.com/s),
    })
  })
}
