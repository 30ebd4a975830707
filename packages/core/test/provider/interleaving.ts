import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { expect, vi } from 'vitest'
import {
  createMemoryTokenStore,
  type TokenStore,
  TokenError,
  type AccessToken,
  type TokenResponse,
  type TokenSource,
  createTokenProvider,
  type GetTokenOptions,
  type TokenProvider,
} from '@tokenwell/core'
import type { TokenLease } from '@tokenwell/core/adapter'
import { pass, setWallClock } from '../support/fake-time.ts'
import {
  ScriptedEndpoint,
  sourceOf,
  type ScriptedResponse,
  unavailable,
  wrongSecret,
} from '../support/scripted-endpoint.ts'

export type Behaviour = 'works' | 'fails' | 'hangs'

/** A memory store. Each operation takes its behaviour from the iterator. */
export function flakyStore(behaviours: Iterator<string>): TokenStore {
  const store = createMemoryTokenStore()
  const flaky = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const behaviour = behaviours.next().value as Behaviour
    if (behaviour === 'fails') return Promise.reject(new Error('failing'))
    return behaviour === 'hangs' ? work().then(() => new Promise<never>(() => {})) : work()
  }
  const flakyLease = (lease: TokenLease): TokenLease => ({
    write: (...of) => flaky(() => lease.write(...of)),
    writeCooldown: (...of) => flaky(() => lease.writeCooldown(...of)),
    extend: (...of) => flaky(() => lease.extend(...of)),
    release: () => flaky(() => lease.release()),
  })
  return {
    sharing: store.sharing,
    read: (key) => flaky(() => store.read(key)),
    remove: (...of) => flaky(() => store.remove(...of)),
    lease: (...of) => flaky(() => store.lease(...of).then((lease) => lease && flakyLease(lease))),
  }
}

interface Issued {
  readonly wall: number
  readonly monotonic: number
  readonly lifetimeMs: number
  /** By the monotonic clock. */
  readonly arrived: number
}

/** A source that records what it issued and when, and reports two concurrent requests as a problem. */
class StrictSource {
  /** Number of requests. */
  requests = 0
  readonly problems: string[] = []
  readonly #issued = new Map<string, Issued>()
  readonly #script: readonly ScriptedResponse[]
  readonly #obeysSignal: boolean

  constructor(script: readonly ScriptedResponse[], obeysSignal: boolean) {
    this.#script = script
    this.#obeysSignal = obeysSignal
  }

  /** The source of one provider, which must never have two pending requests. */
  forOneProvider(): TokenSource {
    let pending: AbortSignal | undefined
    return {
      cacheKey: () => Promise.resolve('key'),
      requestToken: async ({ signal }) => {
        if (pending?.aborted === false) this.problems.push('two requests at once')
        pending = signal
        try {
          return await this.#request(signal)
        } finally {
          if (pending === signal) pending = undefined
        }
      },
    }
  }

  async #request(signal: AbortSignal): Promise<TokenResponse> {
    const number = ++this.requests
    const sent = { wall: Date.now(), monotonic: performance.now() }
    const scripted = this.#script[(number - 1) % this.#script.length]!
    const ownSignal = this.#obeysSignal ? signal : new AbortController().signal
    const body = { access_token: `token-${number}`, token_type: 'Bearer', expires_in: scripted.expiresIn }
    const endpoint = new ScriptedEndpoint(scripted.expiresIn === undefined ? scripted : { ...scripted, body })
    const response = await sourceOf(endpoint).requestToken({ signal: ownSignal })
    if (response.expiresIn === undefined)
      throw new TokenError({ kind: 'malformed', message: 'no expires_in' })
    const arrived = performance.now()
    this.#issued.set(response.accessToken, { ...sent, lifetimeMs: response.expiresIn * 1000, arrived })
    return response
  }

  numberOf({ value }: AccessToken): number {
    return Number(value.replace('token-', ''))
  }

  /**
   * Fails unless the token was issued by this source and is outside its expiry margin by both clocks. A token of at most a
   * second is used for a second, and by the callers that waited for it.
   */
  expectUsable({ value }: AccessToken): void {
    const { wall, monotonic, lifetimeMs, arrived } = this.#issued.get(value)!
    if (lifetimeMs <= 1_000 && performance.now() === arrived) return
    const elapsedMs = Math.max(Date.now() - wall, performance.now() - monotonic)
    const marginMs = Math.min(10_000, lifetimeMs / 20)
    expect(elapsedMs, 'a token within its expiry margin').toBeLessThan(Math.max(1_000, lifetimeMs - marginMs))
  }
}

type Step =
  | { do: 'call'; provider: number; options: Omit<GetTokenOptions, 'signal'>; abortAfterMs?: number }
  | { do: 'abort' | 'reject' | 'rejectOld'; which: number }
  | { do: 'pass'; ms: number }
  | { do: 'setWallClock'; ms: number }
  | { do: 'turn' }

const pick = fc.nat({ max: 1_000 })
const duration = fc.oneof(
  fc.constantFrom(0, 1, 25, 100, 999, 1_000, 5_000, 10_000, 29_999, 30_000),
  fc.nat({ max: 400_000 }),
)
const call = fc.record({
  do: fc.constant('call' as const),
  provider: pick,
  options: fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constant({ forceRefresh: true }) },
    { weight: 1, arbitrary: fc.record({ minimumValidityMs: duration }) },
  ),
  abortAfterMs: fc.option(fc.nat({ max: 15_000 }), { nil: undefined }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: call as fc.Arbitrary<Step> },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: duration }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'turn' }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('abort' as const, 'reject' as const, 'rejectOld' as const),
      which: pick,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('setWallClock' as const),
      ms: fc.integer({ min: -400_000, max: 400_000 }),
    }),
  },
)
const lifetimes = fc.constantFrom(0, 0.5, 1, 3, 20, 100, 3_600)
const scriptedResponse: fc.Arbitrary<ScriptedResponse> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ expiresIn: lifetimes, latencyMs: fc.constantFrom(0, 1, 100, 3_000, 12_000) }),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<ScriptedResponse>(
      unavailable,
      wrongSecret,
      { status: 404, body: '' },
      { body: '<html>' },
      { error: new TypeError('fetch failed') },
      { status: 429, headers: { 'retry-after': '4' }, body: '' },
      { status: 429, headers: { 'retry-after': '50' }, body: '' },
      { latencyMs: Infinity },
    ),
  },
)
export const plan = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
  script: fc.array(scriptedResponse, { minLength: 1, maxLength: 12 }),
  obeysSignal: fc.boolean(),
})

type Plan = { steps: Step[]; script: ScriptedResponse[]; obeysSignal: boolean }

interface Caller {
  readonly controller: AbortController
  /** Whether it was aborted before it had a result. */
  left: boolean
  promise: Promise<unknown>
  state: 'pending' | 'resolved' | 'rejected'
}

/** Takes the steps, and checks each outcome as soon as a call settles. */
export async function play(plan: Plan, store?: TokenStore): Promise<void> {
  const source = new StrictSource(plan.script, plan.obeysSignal)
  const size = store ? 3 : 1
  const providers = Array.from({ length: size }, () =>
    createTokenProvider(source.forOneProvider(), { store }),
  )
  const callers: Caller[] = []
  const tokens: AccessToken[] = []
  const rejected = providers.map(() => new Set<string>())
  const problems: unknown[] = []
  // While no replacement is available, a rejected token is returned again.
  const replaceable = plan.script.every(
    ({ expiresIn, latencyMs = 0 }) => expiresIn !== undefined && latencyMs < 10_000,
  )

  const enter = (index: number, options: GetTokenOptions, abortAfterMs: number | undefined): void => {
    const controller = new AbortController()
    const caller: Caller = { controller, left: false, promise: Promise.resolve(), state: 'pending' }
    callers.push(caller)
    const began = performance.now()
    const requestsBefore = source.requests
    const rejectedBefore = new Set(rejected[index])
    if (abortAfterMs !== undefined) setTimeout(() => leave(caller), abortAfterMs)
    const check = (assertions: () => void): void => {
      try {
        assertions()
        // A call may time out slightly late.
        expect(performance.now() - began, 'thirty seconds').toBeLessThanOrEqual(30_300)
      } catch (error) {
        problems.push(error)
      }
    }
    const promise = providers[index]!.getToken({ ...options, signal: controller.signal })
    caller.promise = promise
    promise.then(
      (token) => {
        check(() => {
          expect(caller.left, 'a result for a caller that had left').toBe(false)
          source.expectUsable(token)
          if (replaceable) expect(rejectedBefore.has(token.value), 'a rejected token').toBe(false)
          if (options.forceRefresh)
            expect(source.numberOf(token), 'a forced token').toBeGreaterThan(requestsBefore)
        })
        caller.state = 'resolved'
        tokens.push(token)
      },
      (error: unknown) => {
        check(() => {
          if (caller.left) expect(error).toBe('left')
          else expect(error).toBeInstanceOf(TokenError)
        })
        caller.state = 'rejected'
      },
    )
  }

  const leave = (caller: Caller | undefined): void => {
    if (!caller) return
    caller.left ||= inspect(caller.promise).includes('<pending>')
    caller.controller.abort('left')
  }

  const reject = (tokens: TokenProvider, index: number, token: AccessToken): void => {
    const before = tokens.peekToken()
    tokens.reject(token)
    if (before !== undefined && tokens.peekToken() === undefined) rejected[index]!.add(before.value)
  }

  for (const step of plan.steps) {
    if (step.do === 'call') enter(step.provider % size, step.options, step.abortAfterMs)
    else if (step.do === 'pass') await pass(step.ms)
    else if (step.do === 'turn') await Promise.resolve()
    else if (step.do === 'setWallClock') {
      await pass(0)
      setWallClock(step.ms)
    } else if (step.do === 'abort') leave(callers[step.which % callers.length])
    else {
      const index = step.which % size
      const current = providers[index]!.peekToken()
      const token = step.do === 'reject' ? current : tokens[step.which % tokens.length]
      if (token) reject(providers[index]!, index, token)
    }
    for (const tokens of providers) {
      const token = tokens.peekToken()
      if (token) source.expectUsable(token)
    }
    expect(problems).toEqual([])
  }
  await pass(31_000)
  expect(problems).toEqual([])
  expect(callers.filter(({ state }) => state === 'pending')).toEqual([])
  // The remaining operations on a store take time.
  const closing = Promise.all(providers.map((tokens) => tokens.close()))
  await pass(6_000)
  await closing
  expect(source.problems).toEqual([])
  if (plan.obeysSignal) expect(vi.getTimerCount(), 'timers left behind').toBe(0)
}
