import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startTwoSchemeApi, type TwoSchemeApi } from '../servers/two-scheme-api.ts'
import { useAdapterFixture, type AdapterUnderTest } from './adapter-under-test.ts'

/** Redirects between HTTPS and plain HTTP of one host and port: another origin, where only the scheme differs. */
export function describeSchemes(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)

  describe('a redirect that changes the scheme alone', () => {
    const trusted = getCACertificates('default')
    let api: TwoSchemeApi
    beforeAll(async () => {
      api = await startTwoSchemeApi()
      setDefaultCACertificates([...trusted, api.certificate])
    })
    afterAll(async () => {
      setDefaultCACertificates(trusted)
      await api.close()
    })
    beforeEach(() => void (api.requests as unknown[]).splice(0))

    const bothOrigins = () => ({ allowedOrigins: [api.secureOrigin, api.plainOrigin] })
    const redirectTo = (from: string, status: number, to: string) =>
      `${from}/to?status=${status}&url=${encodeURIComponent(to)}`
    const bearer = () => `Bearer ${fixture.endpoint.issued[0]}`
    const authorizations = () => api.requests.map(({ scheme, headers }) => [scheme, headers['authorization']])

    it.each([301, 302, 303, 307, 308])(
      'carries no token from HTTPS to plain HTTP, after a %i',
      async (status) => {
        const client = await fixture.createClient(bothOrigins())
        const url = redirectTo(api.secureOrigin, status, `${api.plainOrigin}/target`)
        expect(await client({ url })).toMatchObject({ status: 200, text: '{"arrived":true}' })
        expect(authorizations()).toStrictEqual([
          ['https', bearer()],
          ['http', undefined],
        ])
      },
    )

    it('carries no token on the way back either', async () => {
      const client = await fixture.createClient(bothOrigins())
      const back = redirectTo(api.plainOrigin, 302, `${api.secureOrigin}/target`)
      await client({ url: redirectTo(api.secureOrigin, 302, back) })
      expect(authorizations()).toStrictEqual([
        ['https', bearer()],
        ['http', undefined],
        ['https', undefined],
      ])
    })

    it('carries no token from plain HTTP to HTTPS', async () => {
      const client = await fixture.createClient(bothOrigins())
      await client({ url: redirectTo(api.plainOrigin, 307, `${api.secureOrigin}/target`) })
      expect(authorizations()).toStrictEqual([
        ['http', bearer()],
        ['https', undefined],
      ])
    })

    it('carries no cookie to plain HTTP, as with the plain client', async () => {
      const client = await fixture.createClient(bothOrigins())
      const url = redirectTo(api.secureOrigin, 302, `${api.plainOrigin}/target`)
      for (const send of [fixture.plain, client]) await send({ url, headers: { cookie: 'session=7' } })
      expect(api.requests.map(({ scheme, headers }) => [scheme, headers['cookie']])).toStrictEqual([
        ['https', 'session=7'],
        ['http', undefined],
        ['https', 'session=7'],
        ['http', undefined],
      ])
    })

    it('is not followed with a token in another header', async () => {
      const client = await fixture.createClient({ ...bothOrigins(), header: 'X-Api-Token', scheme: '' })
      const url = redirectTo(api.secureOrigin, 302, `${api.plainOrigin}/target`)
      expect((await client({ url })).status).toBe(302)
      expect(api.requests).toHaveLength(1)
    })

    it('leads to no token for an origin that does not get one by itself', async () => {
      const client = await fixture.createClient({ allowedOrigins: [api.plainOrigin] })
      await client({ url: redirectTo(api.secureOrigin, 302, `${api.plainOrigin}/target`) })
      expect(authorizations()).toStrictEqual([
        ['https', undefined],
        ['http', undefined],
      ])
    })
  })
}
