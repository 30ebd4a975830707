import { createTokenFetch, createTokenProvider } from '@tokenwell/core'
import { describe, expect, it } from 'vitest'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf, unavailable, type Script } from '../support/scripted-endpoint.ts'

useFakeTime()

const api = 'https://api.example.com'

/** Healthy calls every 50 ms, and calls of a path that rejects every token every 100 ms, for 25 s. */
async function run(script: Script, healthy = `${api}/good`) {
  const endpoint = new ScriptedEndpoint(script)
  const tokens = createTokenProvider(sourceOf(endpoint))
  const tokenFetch = createTokenFetch(tokens, {
    allowedOrigins: [api, new URL(healthy).origin],
    fetch: async (input) =>
      new Response(null, { status: new Request(input).url.endsWith('/buggy') ? 401 : 200 }),
  })
  const waits: number[] = []
  const failures: unknown[] = []
  const call = (): void => {
    const started = performance.now()
    tokenFetch(healthy).then(
      () => waits.push(performance.now() - started),
      (error: unknown) => failures.push(error),
    )
  }
  call()
  await pass(1_000)
  waits.length = 0
  for (let tick = 0; tick < 500; tick++) {
    // Its own calls may fail with the error of the token endpoint.
    if (tick % 2 === 0) tokenFetch(`${api}/buggy`).catch(() => {})
    call()
    await pass(50)
  }
  return { endpoint, waits, failures, tokenFetch, healthy }
}

describe.each([
  ['the same API', `${api}/good`],
  ['another API', 'https://other.example.com/good'],
])('with a path that rejects every token, calls to %s', (_name, healthy) => {
  it('do not wait, and few tokens are requested', async () => {
    const { endpoint, waits, failures } = await run({ latencyMs: 500 }, healthy)
    expect(failures).toEqual([])
    expect(waits).toHaveLength(500)
    expect(Math.max(...waits)).toBeLessThanOrEqual(100)
    expect(endpoint.requests.length).toBeLessThanOrEqual(10)
  })

  it('do not fail while the token endpoint is down, until the token expires', async () => {
    const { endpoint, waits, failures, tokenFetch } = await run(
      (request) => (request === 1 ? { expiresIn: 60 } : unavailable),
      healthy,
    )
    expect(failures).toEqual([])
    expect(waits).toHaveLength(500)
    expect(Math.max(...waits)).toBe(0)
    expect(endpoint.requests.length).toBeLessThanOrEqual(40)
    await pass(60_000)
    const late = tokenFetch(healthy)
    const outcome = expect(late).rejects.toMatchObject({ kind: 'unavailable' })
    await pass(30_000)
    await outcome
  })
})
