import { describe, expect, it, vi } from 'vitest'
import { fixRandom, pass, useFakeTime, watch } from '../support/fake-time.ts'
import { fleet } from './sharing-providers.ts'

useFakeTime()

describe('providers that share a store', () => {
  it('keep the lease during the request, while at most one waiting process requests a token as well', async () => {
    const { endpoint, providers } = fleet(20, { latencyMs: 7_000 })
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(8_500)
    expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-1']))
    expect(endpoint.requests).toHaveLength(2)
  })

  it('request nothing while the holder takes a second', async () => {
    const { endpoint, providers } = fleet(20, { latencyMs: 1_000 })
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(2_000)
    expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-1']))
    expect(endpoint.requests).toHaveLength(1)
  })

  it.each([10, 50, 200, 1_000, 3_000])(
    'receive a token that takes %d ms in less than twice that time or 150 ms, with few operations',
    async (latencyMs) => {
      const { store, providers } = fleet(16, { latencyMs })
      const reads = vi.spyOn(store, 'read')
      const leases = vi.spyOn(store, 'lease')
      const calls = providers.map((tokens) => watch(tokens.getToken()))
      await pass(Math.max(2 * latencyMs, 150))
      expect(calls.filter(({ state }) => state !== 'resolved')).toEqual([])
      const perProcess = (reads.mock.calls.length + leases.mock.calls.length) / 16
      expect(perProcess).toBeLessThanOrEqual(latencyMs > 200 ? 25 : 7)
    },
  )

  it('request a token as well, one at a time, when the holder is slow, and share the first one', async () => {
    const { endpoint, providers } = fleet(20, (request) => ({ latencyMs: request === 1 ? 9_900 : 100 }))
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(7_000)
    expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-2', undefined]))
    expect(calls.filter(({ state }) => state === 'pending')).toHaveLength(1)
    await pass(3_000)
    expect(calls[0]!.value?.value).toBe('token-1')
    expect(endpoint.requests).toHaveLength(2)
  })

  it("cancel a request of their own when the holder's token arrives", async () => {
    const { endpoint, first, second } = fleet(2, (request) => ({
      latencyMs: request === 1 ? 8_000 : Infinity,
    }))
    const calls = [watch(first.getToken()), watch(second.getToken())]
    await pass(7_900)
    expect([endpoint.requests.length, endpoint.cancelled]).toEqual([2, 0])
    await pass(1_350)
    expect(calls.map(({ value }) => value?.value)).toEqual(['token-1', 'token-1'])
    expect(endpoint.cancelled).toBe(1)
  })

  it.each([
    [3_000, 5_000],
    [2_200, 4_000],
  ])(
    'all get a token from an endpoint that takes %d ms with a timeout of %d ms',
    async (latencyMs, timeoutMs) => {
      const { endpoint, providers } = fleet(200, { latencyMs }, { timeoutMs })
      const calls = providers.map((tokens) => watch(tokens.getToken()))
      await pass(timeoutMs)
      expect(calls.filter(({ state }) => state !== 'resolved')).toEqual([])
      expect(endpoint.requests.length).toBeLessThanOrEqual(3)
    },
  )

  it('request a token after a sixth of their timeout while the holder hangs', async () => {
    const script = (request: number) => ({ latencyMs: request === 1 ? 60_000 : 10 })
    const { first, second } = fleet(2, script, { timeoutMs: 3_000 })
    const calls = [watch(first.getToken()), watch(second.getToken())]
    await pass(1_800)
    expect(calls.map(({ value }) => value?.value)).toEqual([undefined, 'token-2'])
    await pass(1_200)
    expect(calls[0]!.state).not.toBe('pending')
  })

  it('request their own token when the holder of the lease fails', async () => {
    const { endpoint, first, second } = fleet(2, (request) =>
      request === 1 ? { status: 400, body: '', latencyMs: 1_000 } : {},
    )
    const [failed, other] = [watch(first.getToken()), watch(second.getToken())]
    await pass(1_800)
    expect(failed).toMatchObject({ state: 'rejected', error: { kind: 'configuration' } })
    expect(other.value?.value).toBe('token-2')
    expect(endpoint.requests).toHaveLength(2)
  })

  it('release the lease when the last caller leaves', async () => {
    const { endpoint, first, second } = fleet(2, (request) => ({ latencyMs: request === 1 ? Infinity : 0 }))
    const controller = new AbortController()
    const aborted = watch(first.getToken({ signal: controller.signal }))
    await pass(100)
    const waiting = watch(second.getToken())
    await pass(100)
    controller.abort()
    await pass(500)
    expect(aborted.state).toBe('rejected')
    expect(waiting.value?.value).toBe('token-2')
    expect(endpoint.mostInFlight).toBe(1)
  })

  it('release the lease when they are closed', async () => {
    const { first, second, store } = fleet(2, (request) => ({ latencyMs: request === 1 ? Infinity : 0 }))
    watch(first.getToken())
    await pass(100)
    await first.close()
    // That this process closes is no failure of the endpoint.
    expect(await store.read('key')).toBeUndefined()
    const call = watch(second.getToken())
    await pass(250)
    expect(call.value?.value).toBe('token-2')
  })

  it('do not wait for the lease of a killed holder to expire', async () => {
    const { endpoint, store, providers } = fleet(16)
    // A process that took the lease and was killed.
    await store.lease('key', 60_000)
    const calls = providers.map((tokens) => watch(tokens.getToken()))
    await pass(990)
    expect(new Set(calls.map(({ state }) => state))).toEqual(new Set(['pending']))
    await pass(3_000)
    expect(new Set(calls.map(({ value }) => value?.value))).toEqual(new Set(['token-1']))
    expect(endpoint.requests).toHaveLength(1)
  })

  it('wait for the whole lease of another process with a refresh in the background', async () => {
    const { endpoint, store, first } = fleet(1, { expiresIn: 1_000 })
    await first.getToken()
    await pass(850_000)
    const lease = (await store.lease('key', 5_000))!
    expect((await first.getToken()).value).toBe('token-1')
    for (let second = 0; second < 20; second++) {
      await lease.extend(5_000)
      await pass(1_000)
    }
    expect(endpoint.requests).toHaveLength(1)
    await lease.release()
    await pass(1_300)
    expect(endpoint.requests).toHaveLength(2)
  })

  it('return a token before it is stored, and close after it is stored', async () => {
    const { store, first, second } = fleet(2)
    const lease = (await store.lease('key', 5_000))!
    const write = () => new Promise<string>((resolve) => setTimeout(() => resolve('id'), 150))
    vi.spyOn(store, 'lease').mockResolvedValueOnce({ ...lease, write })
    const call = watch(first.getToken())
    await pass(0)
    expect(call.state).toBe('resolved')
    const closed = watch(first.close())
    const other = watch(second.getToken())
    await pass(149)
    expect([closed.state, other.state]).toEqual(['pending', 'pending'])
    // The last read may be just before the lease may be taken (250 ms), and the next one 202 ms later.
    await pass(350)
    expect([closed.state, other.state]).toEqual(['resolved', 'resolved'])
  })

  it('stop waiting when the caller aborts', async () => {
    const { store, first } = fleet(1)
    await store.lease('key', 60_000)
    const controller = new AbortController()
    const call = watch(first.getToken({ signal: controller.signal }))
    await pass(1_000)
    controller.abort('no time')
    await pass(0)
    expect(call).toEqual({ state: 'rejected', error: 'no time' })
  })

  it('stop reading the store when the caller aborts during an operation', async () => {
    const { store, first } = fleet(1)
    await store.lease('key', 60_000)
    const readNothing = () => new Promise<undefined>((resolve) => setTimeout(resolve, 20, undefined))
    const reads = vi.spyOn(store, 'read').mockImplementation(readNothing)
    const controller = new AbortController()
    watch(first.getToken({ signal: controller.signal }))
    await pass(5)
    while (reads.mock.calls.length < 3) await pass(1)
    controller.abort()
    await pass(5_000)
    expect(reads).toHaveBeenCalledTimes(3)
  })

  it('read the store after 60 ms, then less often, up to twice a second, while another process requests a token', async () => {
    const { store, first } = fleet(1, { latencyMs: 9_900 })
    await store.lease('key', 60_000)
    const looks: number[] = []
    const { store: original } = fleet(1)
    vi.spyOn(store, 'read').mockImplementation((key) => {
      looks.push(Date.now())
      return original.read(key)
    })
    watch(first.getToken())
    await pass(8_000)
    const pauses = looks.slice(1).map((at, index) => at - looks[index]!)
    expect(pauses[0]).toBeGreaterThanOrEqual(45)
    expect(pauses[0]).toBeLessThanOrEqual(76)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(626)
    expect(looks.length).toBeGreaterThan(12)
    expect(looks.length).toBeLessThan(40)
    await first.close()
  })

  it('try to take the lease from 250 ms on while another process has it', async () => {
    fixRandom(0.5)
    const { store, first } = fleet(1)
    await store.lease('key', 60_000)
    const start = Date.now()
    const tries: number[] = []
    vi.spyOn(store, 'lease').mockImplementation(async () => void tries.push(Date.now() - start))
    watch(first.getToken())
    await pass(1_000)
    expect(tries[0]).toBe(0)
    expect(tries.length).toBeGreaterThanOrEqual(3)
    expect(tries[1]).toBeGreaterThanOrEqual(250)
    await first.close()
  })

  it('read the store again with the lease, because another process may have written a token before', async () => {
    const { endpoint, store, first } = fleet(1)
    const response = { accessToken: 'by-another', tokenType: 'Bearer', expiresIn: 100, scope: [] } as const
    const other = (await store.lease('key', 5_000))!
    vi.spyOn(store, 'lease').mockImplementationOnce(async (key, ttlMs) => {
      await other.write(response, 100_000)
      await other.release()
      return store.lease(key, ttlMs)
    })
    expect((await first.getToken()).value).toBe('by-another')
    expect(endpoint.requests).toHaveLength(0)
  })

  it('do not count the time spent waiting for other processes as a slow store', async () => {
    const { events, store, first } = fleet(1)
    const { store: empty } = fleet(1)
    const other = await store.lease('key', 5_000)
    vi.spyOn(store, 'read').mockImplementation(async (key) => {
      await new Promise((resolve) => setTimeout(resolve, 60))
      return empty.read(key)
    })
    const call = watch(first.getToken())
    await pass(3_000)
    await other?.release()
    await pass(500)
    expect(call.state).toBe('resolved')
    expect(events.map(({ type }) => type)).not.toContain('store_unavailable')
  })
})
