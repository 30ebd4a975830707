import { expect, it } from 'vitest'
import { createTokenProvider } from '@tokenwell/core'
import { pass, useFakeTime } from '../support/fake-time.ts'
import { ScriptedEndpoint, sourceOf } from '../support/scripted-endpoint.ts'

useFakeTime()

it('no call waits or gets an expired token under 200 calls a second with tokens of three seconds', async () => {
  const endpoint = new ScriptedEndpoint({ expiresIn: 3, latencyMs: 100 })
  const tokens = createTokenProvider(sourceOf(endpoint))
  const first = tokens.getToken()
  await pass(100)
  await first
  for (let call = 0; call < 12_000; call++) {
    const token = tokens.peekToken()
    expect(token).toBeDefined()
    expect(await tokens.getToken()).toBe(token)
    const issuedAt = endpoint.requests[Number(token!.value.slice(6)) - 1]!.atMs
    expect(Date.now() - issuedAt).toBeLessThan(2_850)
    await pass(5)
  }
  // A refresh 2.34 to 2.46 s after each request.
  expect(endpoint.requests.length).toBeGreaterThanOrEqual(25)
  expect(endpoint.requests.length).toBeLessThanOrEqual(27)
  expect(endpoint.mostInFlight).toBe(1)
})
