import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTokenProvider, type AccessToken, createMemoryTokenStore } from '@tokenwell/core'
import { startWith } from '../sharing/sharing-providers.ts'
import { ScriptedEndpoint, sourceOf, wrongSecret } from '../support/scripted-endpoint.ts'

it('notices a changed secret although the process was blocked for longer than the check may take', async () => {
  let secret = 'old'
  // Read from a file system, which takes a turn of the event loop.
  const { endpoint, tokens } = await rejectedTwice(() => stat(tmpdir()).then(() => secret))
  secret = 'new'
  endpoint.script = () => ({})
  const call = tokens.getToken()
  block(1_100)
  await expect(call).resolves.toMatchObject({ value: expect.any(String) })
})

it('waits little longer for a check that hangs although the process was blocked', async () => {
  let clientSecret = () => Promise.resolve('wrong')
  const { tokens } = await rejectedTwice(() => clientSecret())
  clientSecret = () => new Promise(() => {})
  const call = tokens.getToken()
  // The check may take a second, and once more as long as it was late: more than planned on a busy machine.
  const lateMs = block(1_100) - 1_000
  await expect(Promise.race([call, setTimeout(lateMs + 800)])).rejects.toMatchObject({ kind: 'credentials' })
})

it.each([
  [10_049, 1],
  [10_050, 2],
])('gives up a request 50 ms after its time limit: %d ms, %d requests', async (ms, count) => {
  let time = 0
  const clock = { now: () => time, monotonic: () => time }
  const calls: Promise<AccessToken>[] = []
  const endpoint = new ScriptedEndpoint(() => {
    time = ms
    calls.push(tokens.getToken())
    return {}
  })
  const tokens = createTokenProvider(sourceOf(endpoint), { clock })
  const { value } = await tokens.getToken()
  expect([value, endpoint.requests.length]).toEqual([`token-${count}`, count])
  await Promise.all(calls)
})

/** A provider in a cooldown of 30 s. */
async function rejectedTwice(clientSecret: () => Promise<string>) {
  const endpoint = new ScriptedEndpoint(wrongSecret)
  let time = 0
  const clock = { now: () => time, monotonic: () => time }
  const tokens = createTokenProvider(sourceOf(endpoint, { clientSecret }), { clock })
  for (let rejection = 1; rejection <= 2; rejection++) {
    await expect(tokens.getToken()).rejects.toMatchObject({ kind: 'credentials' })
    time += 1_000
  }
  return { endpoint, tokens }
}

/** Returns how long it took. */
function block(ms: number): number {
  const start = performance.now()
  while (performance.now() < start + ms);
  return performance.now() - start
}

it('does not blame the store for the time during which this process was blocked', async () => {
  const memory = createMemoryTokenStore()
  const { events, tokens } = startWith({
    ...memory,
    async read(key) {
      await setTimeout(100)
      return memory.read(key)
    },
  })
  const call = tokens.getToken()
  await setTimeout(50)
  const until = performance.now() + 400
  while (performance.now() < until);
  await call
  expect(events.map(({ type }) => type)).not.toContain('store_unavailable')
})
