import { describe, expect, it } from 'vitest'
import { json, noResponse, type ScriptedServer } from '../servers/scripted-server.ts'
import {
  comparable,
  useAdapterFixture,
  type AdapterRequest,
  type AdapterUnderTest,
} from './adapter-under-test.ts'
import { requestBodies } from './request-body.ts'

/** Every kind of body, with every kind of response. */
export function describeBodies(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)

  it.each(adapter.cannotSend ?? [])('rejects a %s as the plain client does', async (kind) => {
    const request = () => ({
      url: fixture.api.origin,
      body: requestBodies.find((body) => body.kind === kind)!.create(),
    })
    const expected = await fixture.outcomeOf(fixture.plain, request())
    expect(expected).not.toHaveProperty('status')
    expect(await fixture.outcomeOf(fixture.client, request())).toStrictEqual(expected)
    expect(fixture.api.requests).toHaveLength(0)
  })

  const sendable = requestBodies.filter(({ kind }) => !adapter.cannotSend?.includes(kind as never))
  describe.each(sendable)('a request with $kind', ({ create, sentOnce }) => {
    const request = (path = '/orders?a=1'): AdapterRequest => ({
      url: fixture.api.origin + path,
      body: create(),
    })

    /** What the servers receive from the plain client, and what it returns. */
    const plainOutcome = async (request: AdapterRequest, ...servers: ScriptedServer[]) => {
      const outcome = await fixture.outcomeOf(fixture.plain, request)
      const received = servers.map((server) => comparable(server.requests.splice(0)))
      return { outcome, received }
    }

    it('is sent as the plain client sends it, with the token', async () => {
      const { received } = await plainOutcome(request(), fixture.api)
      const { status, text } = await fixture.client(request())
      expect({ status, text }).toStrictEqual({ status: 200, text: '{"accepted":true}' })
      expect([comparable(fixture.api.requests)]).toStrictEqual(received)
      expect(fixture.api.tokens).toStrictEqual([...fixture.endpoint.issued])
      expect(fixture.endpoint.issued).toHaveLength(1)
    })

    it('is repeated with a new token after a rejection if its body can be sent again', async () => {
      fixture.api.rejects = (token) => token === fixture.endpoint.issued[0]
      const { status, text } = await fixture.client(request())
      const [first, second] = comparable(fixture.api.requests)
      if (sentOnce) {
        expect({ status, text }).toStrictEqual({ status: 401, text: '{"rejected":1}' })
        expect(fixture.api.requests).toHaveLength(1)
        // The next request of this kind waits for the new token.
        const next = await fixture.client(request())
        expect(next.status).toBe(200)
      } else {
        expect({ status, text }).toStrictEqual({ status: 200, text: '{"accepted":true}' })
        expect(second).toStrictEqual(first)
      }
      expect(fixture.api.tokens).toStrictEqual([...fixture.endpoint.issued])
      expect(fixture.endpoint.issued).toHaveLength(2)
    })

    it('returns a second rejection to the caller and requests no third token', async () => {
      fixture.api.rejects = () => true
      const { status, text } = await fixture.client(request())
      const sent = sentOnce ? 1 : 2
      expect({ status, text }).toStrictEqual({ status: 401, text: `{"rejected":${sent}}` })
      expect(fixture.api.requests).toHaveLength(sent)
      // Also for a request that cannot be repeated: the next one needs it.
      await expect.poll(() => fixture.endpoint.issued.length).toBe(2)
    })

    it.each([
      [403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }],
      [500, {}],
    ])('returns a %i to the caller unchanged', async (status, headers) => {
      fixture.api.respond = () => json({ error: 'from the API' }, status, headers)
      const { received, outcome } = await plainOutcome(request(), fixture.api)
      expect(await fixture.outcomeOf(fixture.client, request())).toStrictEqual(outcome)
      expect([comparable(fixture.api.requests)]).toStrictEqual(received)
      expect(fixture.endpoint.issued).toHaveLength(1)
    })

    it.each([302, 303, 307, 308])('follows a %i as the plain client does, with the token', async (status) => {
      fixture.api.respond = ({ url }) =>
        url === '/from' ? { status, headers: { location: '/to' } } : json({ arrived: true })
      const { received, outcome } = await plainOutcome(request('/from'), fixture.api)
      expect(await fixture.outcomeOf(fixture.client, request('/from'))).toStrictEqual(outcome)
      expect([comparable(fixture.api.requests)]).toStrictEqual(received)
      const [token] = fixture.endpoint.issued
      expect(fixture.api.tokens).toStrictEqual(fixture.api.requests.map(() => token))
    })

    it.each([302, 307])(
      'follows a %i to another origin as the plain client does, without the token',
      async (status) => {
        fixture.api.respond = () => ({ status, headers: { location: `${fixture.other.origin}/to` } })
        fixture.other.respond = () => json({ arrived: true })
        const { received, outcome } = await plainOutcome(request(), fixture.api, fixture.other)
        expect(await fixture.outcomeOf(fixture.client, request())).toStrictEqual(outcome)
        expect([comparable(fixture.api.requests), comparable(fixture.other.requests)]).toStrictEqual(received)
        expect(JSON.stringify(fixture.other.requests)).not.toContain(fixture.endpoint.issued[0])
      },
    )

    it('fails as the plain client does when aborted while waiting for a token, and is not sent', async () => {
      const reason = new Error('No longer needed')
      const abortOnArrival = async (server: ScriptedServer, client = fixture.client) => {
        const controller = new AbortController()
        const outcome = fixture.outcomeOf(client, { ...request(), signal: controller.signal })
        await server.nextRequest()
        controller.abort(reason)
        return outcome
      }
      fixture.api.respond = () => noResponse
      const expected = await abortOnArrival(fixture.api, fixture.plain)
      fixture.api.requests.splice(0)
      fixture.endpoint.respond = () => noResponse
      expect(await abortOnArrival(fixture.endpoint)).toStrictEqual(expected)
      expect(fixture.api.requests).toHaveLength(0)
    })

    it('fails as the plain client does when it times out while waiting for a token, and is not sent', async () => {
      fixture.api.respond = () => noResponse
      const expected = await fixture.outcomeOf(fixture.plain, { ...request(), timeoutMs: 50 })
      fixture.endpoint.respond = () => noResponse
      expect(await fixture.outcomeOf(fixture.client, { ...request(), timeoutMs: 50 })).toStrictEqual(expected)
      // The plain client's request may arrive at any time.
      expect(fixture.api.tokens.filter(Boolean)).toHaveLength(0)
    })
  })
}
