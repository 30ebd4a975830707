import { setImmediate } from 'node:timers/promises'
import { createMemoryTokenStore, createTokenProvider, TokenError, type TokenStore } from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/adapter'
import { createRandom } from '@tokenwell/internal-testing/random'

interface Timer {
  readonly atMs: number
  readonly run: () => void
  cancelled?: boolean
}

/** A clock and timers for 10,000 processes: a heap, where fake timers search a list for each one that is due. */
class VirtualTime {
  nowMs = 1_000
  readonly #heap: Timer[] = []

  at(atMs: number, run: () => void): Timer {
    const timer: Timer = { atMs, run }
    let index = this.#heap.push(timer) - 1
    for (let parent; index > 0; index = parent) {
      parent = (index - 1) >> 1
      if (this.#heap[parent]!.atMs <= atMs) break
      this.#swap(index, parent)
    }
    return timer
  }

  #swap(one: number, other: number): void {
    const timer = this.#heap[one]!
    this.#heap[one] = this.#heap[other]!
    this.#heap[other] = timer
  }

  #next(): Timer {
    const first = this.#heap[0]!
    const last = this.#heap.pop()!
    if (this.#heap.length > 0) this.#heap[0] = last
    for (let index = 0; ;) {
      const [left, right] = [2 * index + 1, 2 * index + 2]
      if (left >= this.#heap.length) return first
      const isRight = right < this.#heap.length && this.#heap[right]!.atMs < this.#heap[left]!.atMs
      const least = isRight ? right : left
      if (this.#heap[index]!.atMs <= this.#heap[least]!.atMs) return first
      this.#swap(index, least)
      index = least
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.at(this.nowMs + ms, resolve))
  }

  /** Replaces the clocks and timers of this process. */
  install(): void {
    const repeat = (timer: Timer, ms: number): void => {
      if (timer.cancelled) return
      timer.run()
      this.at(this.nowMs + ms, () => repeat(timer, ms))
    }
    const members = {
      setTimeout: (run: () => void, ms = 0) => this.at(this.nowMs + Math.max(1, ms), run),
      setInterval(run: () => void, ms: number): Timer {
        const timer: Timer = { atMs: 0, run }
        time.at(time.nowMs + ms, () => repeat(timer, ms))
        return timer
      },
      clearTimeout: (timer?: Timer) => void (timer && (timer.cancelled = true)),
      clearInterval: (timer?: Timer) => void (timer && (timer.cancelled = true)),
    }
    Object.assign(globalThis, members)
    Date.now = performance.now = () => this.nowMs
  }

  /** Runs what is due until `untilMs`, in steps, so that promises settle between two of them. */
  async run(untilMs: number): Promise<void> {
    for (;;) {
      await setImmediate()
      const next = this.#heap[0]
      if (next === undefined || next.atMs > untilMs) return
      this.nowMs = Math.max(this.nowMs, next.atMs)
      while (this.#heap.length > 0 && this.#heap[0]!.atMs <= this.nowMs) {
        const timer = this.#next()
        if (!timer.cancelled) timer.run()
      }
    }
  }

  clear(): void {
    this.#heap.length = 0
  }
}

const time = new VirtualTime()
time.install()
// The same latencies and jitter each time.
Math.random = createRandom(Number(process.env['SEED'] ?? 20_261_126))

/** What is simulated. Times in milliseconds since the start. */
interface Scenario {
  /** @default a minute */
  readonly forMs?: number
  /** One operation of the store; throws while it is down. @default 1 to 5 ms */
  readonly storeLatencyMs?: (atMs: number) => number
  /** The endpoint's latency and status for one request. @default 80 to 120 ms, 200 */
  readonly endpoint?: (request: number, atMs: number) => readonly [latencyMs: number, status?: number]
}

const hanging = 1e9

const scenarios = {
  'all is well': {},
  // A refresh comes five minutes before the token expires.
  'all is well, for two lifetimes': { forMs: 6_400_000 },
  'the endpoint takes 50 ms': { endpoint: () => [50] },
  'the endpoint takes 200 ms': { endpoint: () => [200] },
  'the endpoint takes 1 s': { endpoint: () => [1_000] },
  'the endpoint takes 3 s': { endpoint: () => [3_000] },
  'the endpoint is down for 2 s': { endpoint: (_, atMs) => [100, atMs < 2_000 ? 503 : 200] },
  'the endpoint is down for 20 s': { endpoint: (_, atMs) => [100, atMs < 20_000 ? 503 : 200] },
  'the first request fails': { endpoint: (request) => [100, request === 1 ? 503 : 200] },
  'the first request hangs': { endpoint: (request) => [request === 1 ? hanging : 100] },
  'the store fails': {
    storeLatencyMs() {
      throw new Error('down')
    },
  },
  'the store hangs': { storeLatencyMs: () => hanging },
  'the store hangs after 10 ms': { storeLatencyMs: (atMs) => (atMs < 10 ? 3 : hanging) },
  'the store takes 150 ms': { storeLatencyMs: () => 150 },
  'the store takes 300 ms': { storeLatencyMs: () => 300 },
} satisfies Readonly<Record<string, Scenario>>

export type FleetScenario = keyof typeof scenarios

/** What it costs. Waits end with a process's first token, and include failed calls. */
export interface FleetResult {
  readonly tokenRequests: number
  /** Store operations per process. */
  readonly operations: number
  readonly meanWaitMs: number
  readonly longestWaitMs: number
  readonly failedCalls: number
}

const lifetimeMs = 3_600_000

/** Runs a fleet of processes that start at once, each with its own provider and its own connection to the store. */
async function simulateFleet(
  name: FleetScenario,
  processes: number,
  sharesStore: boolean,
): Promise<FleetResult> {
  const {
    forMs = 60_000,
    storeLatencyMs = () => 1 + 4 * Math.random(),
    endpoint = () => [80 + 40 * Math.random()],
  }: Scenario = scenarios[name]
  time.clear()
  const start = time.nowMs
  const waits: number[] = []
  let [tokenRequests, operations, failedCalls] = [0, 0, 0]
  const shared = createMemoryTokenStore()

  /** Half of the latency before the operation, half of it after. */
  const distant = <Args extends unknown[], Result>(operation: (...args: Args) => Promise<Result>) => {
    return async (...args: Args): Promise<Result> => {
      operations++
      const latencyMs = storeLatencyMs(time.nowMs - start)
      await time.sleep(latencyMs / 2)
      const result = await operation(...args)
      await time.sleep(latencyMs / 2)
      return result
    }
  }
  const distantLease = (lease: TokenLease | undefined): TokenLease | undefined =>
    lease && {
      write: distant((...args) => lease.write(...args)),
      writeCooldown: distant((...args) => lease.writeCooldown(...args)),
      extend: distant((...args) => lease.extend(...args)),
      release: distant(() => lease.release()),
    }
  /** An object for each process: providers with the same one share its circuit breaker. */
  const connect = (): TokenStore => {
    const lease = distant<Parameters<TokenStore['lease']>, TokenLease | undefined>((...args) =>
      shared.lease(...args),
    )
    return {
      ...shared,
      read: distant((key) => shared.read(key)),
      remove: distant((key, id) => shared.remove(key, id)),
      lease: async (...args) => distantLease(await lease(...args)),
    }
  }

  async function requestToken() {
    const request = ++tokenRequests
    const [latencyMs, status = 200] = endpoint(request, time.nowMs - start)
    await time.sleep(latencyMs)
    if (status !== 200) throw new TokenError({ kind: 'unavailable', message: 'down', status })
    const accessToken = `token-${request}`
    return { accessToken, tokenType: 'Bearer', expiresIn: lifetimeMs / 1000, scope: [] } as const
  }

  const startProcess = (): void => {
    const source = { cacheKey: () => Promise.resolve('key'), requestToken }
    const tokens = createTokenProvider(source, sharesStore ? { store: connect() } : {})
    const startedAt = time.nowMs
    let hasToken = false
    const call = (): void => {
      tokens.getToken().then(
        () => {
          if (!hasToken) waits.push(time.nowMs - startedAt)
          hasToken = true
          time.at(time.nowMs + 60_000, call)
        },
        () => {
          failedCalls++
          time.at(time.nowMs + 1_000, call)
        },
      )
    }
    call()
  }

  for (let process = 0; process < processes; process++) time.at(start, startProcess)
  await time.run(start + forMs)
  return {
    tokenRequests,
    operations: Math.round((10 * operations) / processes) / 10,
    meanWaitMs: Math.round(waits.reduce((sum, ms) => sum + ms, 0) / waits.length),
    longestWaitMs: waits.length < processes ? Infinity : Math.round(Math.max(...waits)),
    failedCalls,
  }
}

// node --conditions=@tokenwell/source simulated-fleet.ts 10000 ['all is well']
const processes = Number(process.argv[2])
const only = process.argv[3] as FleetScenario | undefined
for (const name of only ? [only] : (Object.keys(scenarios) as FleetScenario[])) {
  const [alone, shared] = [
    await simulateFleet(name, processes, false),
    await simulateFleet(name, processes, true),
  ]
  const row = [
    name,
    `${alone.tokenRequests} → ${shared.tokenRequests}`,
    shared.operations,
    `${alone.meanWaitMs} → ${shared.meanWaitMs}`,
    `${alone.longestWaitMs} → ${shared.longestWaitMs}`,
    `${alone.failedCalls} → ${shared.failedCalls}`,
  ]
  process.stdout.write(`${only ? JSON.stringify({ alone, shared }) : `| ${row.join(' | ')} |`}\n`)
}
