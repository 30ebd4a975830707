import { describe, expect, it } from 'vitest'
import { useAdapterBench } from './adapter-bench.ts'
import type { AdapterRequest, AdapterUnderTest } from './adapter-under-test.ts'
import { expectNoneShown } from './expect-none-shown.ts'
import { json, silence, type ScriptedServer } from './scripted-server.ts'

/** What an application might log of a request shows no token. */
export function describeSecrets(adapter: AdapterUnderTest): void {
  const bench = useAdapterBench(adapter)

  describe('what an application may log shows no token', () => {
    it.each<[string, ScriptedServer['answer']]>([
      ['a success', () => json({ accepted: true })],
      ['a refusal', () => json({}, 401)],
      ['an error of the API', () => json({ error: 'down' }, 500)],
      ['a broken connection', () => 'drop'],
      [
        'a body shorter than its length',
        () => ({ headers: { 'content-length': '100' }, body: 'short', thenDrop: true }),
      ],
      ['too many redirects', () => ({ status: 302, headers: { location: '/' } })],
      ['a redirect to nowhere', () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } })],
    ])('after %s', async (_name, answer) => {
      bench.api.answer = answer
      expectNoToken(await heldAfter({ url: bench.api.origin, body: { kind: 'json', value: {} } }))
    })

    it('after an abort while the API works', async () => {
      bench.api.answer = () => silence
      const controller = new AbortController()
      const held = heldAfter({ url: bench.api.origin, signal: controller.signal })
      await bench.api.nextRequest()
      controller.abort()
      expectNoToken(await held)
    })

    it('after its time was over while the API worked', async () => {
      await bench.client({ url: bench.api.origin })
      bench.api.answer = () => silence
      expectNoToken(await heldAfter({ url: bench.api.origin, timeoutMs: 50 }))
    })

    it('after the token endpoint itself has failed', async () => {
      await bench.client({ url: bench.api.origin })
      bench.endpoint.answer = () => json({ error: 'invalid_client' }, 401)
      bench.api.refuses = () => true
      expectNoToken(await heldAfter({ url: bench.api.origin }))
      expectNoToken(await heldAfter({ url: bench.api.origin }))
    })
  })

  const heldAfter = (request: AdapterRequest): Promise<unknown> =>
    bench.client(request).then(
      ({ held }) => held,
      (error: unknown) => error,
    )

  function expectNoToken(held: unknown): void {
    expect(bench.endpoint.issued.length).toBeGreaterThan(0)
    expectNoneShown(held, [...bench.endpoint.issued, 'a-secret'])
  }
}
