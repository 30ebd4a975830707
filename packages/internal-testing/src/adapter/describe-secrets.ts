import { describe, expect, it } from 'vitest'
import { expectNoSecrets } from '../expect-no-secrets.ts'
import { json, noResponse, type ScriptedServer } from '../servers/scripted-server.ts'
import { useAdapterFixture, type AdapterRequest, type AdapterUnderTest } from './adapter-under-test.ts'

/** Nothing that an application may log about a request shows its token. */
export function describeSecrets(adapter: AdapterUnderTest): void {
  const fixture = useAdapterFixture(adapter)

  describe('a logged response or error shows no token', () => {
    it.each<[string, ScriptedServer['respond']]>([
      ['a success', () => json({ accepted: true })],
      ['a rejection', () => json({}, 401)],
      ['an error of the API', () => json({ error: 'down' }, 500)],
      ['a broken connection', () => 'drop'],
      [
        'a body shorter than its declared length',
        () => ({ headers: { 'content-length': '100' }, body: 'short', thenDrop: true }),
      ],
      ['too many redirects', () => ({ status: 302, headers: { location: '/' } })],
      [
        'a redirect to an unreachable server',
        () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } }),
      ],
    ])('after %s', async (_name, respond) => {
      fixture.api.respond = respond
      expectNoToken(await receivedAfter({ url: fixture.api.origin, body: { kind: 'json', value: {} } }))
    })

    it('after an abort while the API is working', async () => {
      fixture.api.respond = () => noResponse
      const controller = new AbortController()
      const received = receivedAfter({ url: fixture.api.origin, signal: controller.signal })
      await fixture.api.nextRequest()
      controller.abort()
      expectNoToken(await received)
    })

    it('after a timeout while the API is working', async () => {
      await fixture.client({ url: fixture.api.origin })
      fixture.api.respond = () => noResponse
      expectNoToken(await receivedAfter({ url: fixture.api.origin, timeoutMs: 50 }))
    })

    it('after a failure of the token endpoint', async () => {
      await fixture.client({ url: fixture.api.origin })
      fixture.endpoint.respond = () => json({ error: 'invalid_client' }, 401)
      fixture.api.rejects = () => true
      expectNoToken(await receivedAfter({ url: fixture.api.origin }))
      expectNoToken(await receivedAfter({ url: fixture.api.origin }))
    })
  })

  const receivedAfter = (request: AdapterRequest): Promise<unknown> =>
    fixture.client(request).then(
      ({ received }) => received,
      (error: unknown) => error,
    )

  function expectNoToken(received: unknown): void {
    expect(fixture.endpoint.issued.length).toBeGreaterThan(0)
    expectNoSecrets(received, [...fixture.endpoint.issued, 'a-secret'])
  }
}
