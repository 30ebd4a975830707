import { describe, expect, it } from 'vitest'
import { comparable, useAdapterBench } from './adapter-bench.ts'
import type { AdapterRequest, AdapterUnderTest } from './adapter-under-test.ts'
import { requestBodies } from './request-body.ts'
import { json, silence, type ScriptedServer } from './scripted-server.ts'

/** Every kind of body, with every kind of answer. */
export function describeBodies(adapter: AdapterUnderTest): void {
  const bench = useAdapterBench(adapter)

  it.each(adapter.cannotSend ?? [])('refuses a %s as the bare client does', async (kind) => {
    const request = () => ({
      url: bench.api.origin,
      body: requestBodies.find((body) => body.kind === kind)!.create(),
    })
    const expected = await bench.outcomeOf(bench.bare, request())
    expect(expected).not.toHaveProperty('status')
    expect(await bench.outcomeOf(bench.client, request())).toStrictEqual(expected)
    expect(bench.api.requests).toHaveLength(0)
  })

  const sendable = requestBodies.filter(({ kind }) => !adapter.cannotSend?.includes(kind as never))
  describe.each(sendable)('a request with $kind', ({ create, sentOnce }) => {
    const request = (path = '/orders?a=1'): AdapterRequest => ({
      url: bench.api.origin + path,
      body: create(),
    })

    /** What the servers see of the bare client, and what it makes of it. */
    const bareOutcome = async (request: AdapterRequest, ...servers: ScriptedServer[]) => {
      const outcome = await bench.outcomeOf(bench.bare, request)
      const seen = servers.map((server) => comparable(server.requests.splice(0)))
      return { outcome, seen }
    }

    it('sends what the bare client sends, and the token', async () => {
      const { seen } = await bareOutcome(request(), bench.api)
      const { status, text } = await bench.client(request())
      expect({ status, text }).toStrictEqual({ status: 200, text: '{"accepted":true}' })
      expect([comparable(bench.api.requests)]).toStrictEqual(seen)
      expect(bench.api.tokens).toStrictEqual([...bench.endpoint.issued])
      expect(bench.endpoint.issued).toHaveLength(1)
    })

    it('renews a refused token, and sends again only what can be sent again', async () => {
      bench.api.refuses = (token) => token === bench.endpoint.issued[0]
      const { status, text } = await bench.client(request())
      const [first, second] = comparable(bench.api.requests)
      if (sentOnce) {
        expect({ status, text }).toStrictEqual({ status: 401, text: '{"refused":1}' })
        expect(bench.api.requests).toHaveLength(1)
        // The refused token is not used again.
        await bench.client({ url: bench.api.origin })
      } else {
        expect({ status, text }).toStrictEqual({ status: 200, text: '{"accepted":true}' })
        expect(second).toStrictEqual(first)
      }
      expect(bench.api.tokens).toStrictEqual([...bench.endpoint.issued])
      expect(bench.endpoint.issued).toHaveLength(2)
    })

    it('gives the second refusal to the caller, and asks for no third token', async () => {
      bench.api.refuses = () => true
      const { status, text } = await bench.client(request())
      const sent = sentOnce ? 1 : 2
      expect({ status, text }).toStrictEqual({ status: 401, text: `{"refused":${sent}}` })
      expect(bench.api.requests).toHaveLength(sent)
      expect(bench.endpoint.issued).toHaveLength(sent)
    })

    it.each([
      [403, { 'www-authenticate': 'Bearer error="insufficient_scope"' }],
      [500, {}],
    ])('gives a %i to the caller as it is', async (status, headers) => {
      bench.api.answer = () => json({ error: 'of the API' }, status, headers)
      const { seen, outcome } = await bareOutcome(request(), bench.api)
      expect(await bench.outcomeOf(bench.client, request())).toStrictEqual(outcome)
      expect([comparable(bench.api.requests)]).toStrictEqual(seen)
      expect(bench.endpoint.issued).toHaveLength(1)
    })

    it.each([302, 303, 307, 308])('follows a %i as the bare client does, with the token', async (status) => {
      bench.api.answer = ({ url }) =>
        url === '/from' ? { status, headers: { location: '/to' } } : json({ arrived: true })
      const { seen, outcome } = await bareOutcome(request('/from'), bench.api)
      expect(await bench.outcomeOf(bench.client, request('/from'))).toStrictEqual(outcome)
      expect([comparable(bench.api.requests)]).toStrictEqual(seen)
      const [token] = bench.endpoint.issued
      expect(bench.api.tokens).toStrictEqual(bench.api.requests.map(() => token))
    })

    it.each([302, 307])(
      'follows a %i to another origin as the bare client does, without the token',
      async (status) => {
        bench.api.answer = () => ({ status, headers: { location: `${bench.other.origin}/to` } })
        bench.other.answer = () => json({ arrived: true })
        const { seen, outcome } = await bareOutcome(request(), bench.api, bench.other)
        expect(await bench.outcomeOf(bench.client, request())).toStrictEqual(outcome)
        expect([comparable(bench.api.requests), comparable(bench.other.requests)]).toStrictEqual(seen)
        expect(JSON.stringify(bench.other.requests)).not.toContain(bench.endpoint.issued[0])
      },
    )

    it('fails as the bare client does when aborted while a token is awaited, and sends nothing', async () => {
      const reason = new Error('Changed my mind')
      const abortAtArrival = async (server: ScriptedServer, client = bench.client) => {
        const controller = new AbortController()
        const outcome = bench.outcomeOf(client, { ...request(), signal: controller.signal })
        await server.nextRequest()
        controller.abort(reason)
        return outcome
      }
      bench.api.answer = () => silence
      const expected = await abortAtArrival(bench.api, bench.bare)
      bench.api.requests.splice(0)
      bench.endpoint.answer = () => silence
      expect(await abortAtArrival(bench.endpoint)).toStrictEqual(expected)
      expect(bench.api.requests).toHaveLength(0)
    })

    it('fails as the bare client does when its time is over while a token is awaited, and sends nothing', async () => {
      bench.api.answer = () => silence
      const expected = await bench.outcomeOf(bench.bare, { ...request(), timeoutMs: 50 })
      bench.endpoint.answer = () => silence
      expect(await bench.outcomeOf(bench.client, { ...request(), timeoutMs: 50 })).toStrictEqual(expected)
      // The bare client's own may arrive as late as it likes.
      expect(bench.api.tokens.filter(Boolean)).toHaveLength(0)
    })
  })
}
