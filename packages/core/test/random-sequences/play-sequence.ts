import {
  clientCredentials,
  clientCredentialsForResource,
  createMemoryTokenStore,
  createTokenFetch,
  createTokenPool,
  createTokenProvider,
  isTokenError,
  type AttachableTokens,
  type TokenProvider,
} from '@tokenwell/core'
import { createGrantSource } from '@tokenwell/core/adapter'
import { createRandom } from '@tokenwell/internal-testing/random'
import { Oracle, type ObservedProvider } from './oracle.ts'
import { createApis, createChoices, createTokenService, origins } from './services.ts'
import { runTimers, takeTime, timersOfCore, withWholeTimers } from './virtual-time.ts'

/** A call of the application. */
interface Call {
  readonly what: string
  readonly longestMs: number
  startedAt?: number
  abortedAt?: number
  settledAt?: number
}

function hasSettled({ startedAt, settledAt }: Call): boolean {
  return startedAt === undefined || settledAt !== undefined
}

/** How much later than an abort a call may settle: streams take a turn of the event loop. */
const abortMs = 2

/**
 * Plays one random sequence of requests, calls, aborts, rejections, resets and a close, against services that fail at random, in
 * fake time.
 *
 * @returns what must not happen and did
 */
export async function playSequence(seed: number): Promise<readonly string[]> {
  const { random: originalRandom } = Math
  Math.random = createRandom(seed)
  try {
    return await withWholeTimers(() => play(createRandom(seed ^ 0x5bd1e995), seed))
  } finally {
    Math.random = originalRandom
  }
}

async function play(random: () => number, seed: number): Promise<readonly string[]> {
  const choices = createChoices(random)
  const { between, chance, pick } = choices
  const kind = pick(['client', 'client', 'store', 'pool', 'resource'])
  const isCalm = chance(0.3)
  const allowedOrigins = [origins.first, origins.second]
  const oracle = new Oracle(allowedOrigins, kind === 'resource' ? origins.first : undefined)
  const world = { oracle, choices, isCalm }
  const fetch = createTokenService(world)
  const timeoutMs = isCalm ? 10_000 : pick([2_000, 10_000, 30_000])
  const store = kind === 'store' || (kind === 'pool' && chance(0.4)) ? createMemoryTokenStore() : undefined
  const settings = {
    timeoutMs,
    attemptTimeoutMs: pick([500, 5_000, 30_000]),
    maxAttempts: pick([1, 3, 3]),
    refreshAheadMs: pick([undefined, undefined, 0, 1e9]),
    store,
  }
  const observed = new Map<TokenProvider, ObservedProvider>()

  const createProvider = (tenant: string): TokenProvider => {
    const { provider, onEvent } = oracle.observe()
    // A pool closes the provider of a key that leaves it.
    provider.mayClose = kind === 'pool'
    const options = { ...settings, onEvent }
    const client = { clientId: tenant, clientSecret: 'secret', fetch }
    const tokenEndpoint = `${origins.tokens}/token`
    let tokens: TokenProvider
    if (kind === 'resource') {
      const scope = chance(0.5) ? 's1 s2 s3' : undefined
      const resource = { protectedResource: origins.first, trustedIssuers: [origins.tokens] }
      tokens = clientCredentialsForResource({ ...client, ...resource, ...options, scope })
    } else if (store) {
      // The key that it derives from its credentials would take real time.
      const cacheKey = (): Promise<string> => Promise.resolve(tenant)
      tokens = createTokenProvider(
        Object.assign(createGrantSource({ ...client, tokenEndpoint }), { cacheKey }),
        options,
      )
    } else tokens = clientCredentials({ ...client, ...options, tokenEndpoint })
    observed.set(tokens, provider)
    return tokens
  }

  const tenants = kind === 'pool' ? ['tenant-0', 'tenant-1', 'tenant-2'] : ['tenant-0']
  const isAsynchronous = chance(0.5)
  const pool = createTokenPool(
    (tenant: string) =>
      isAsynchronous
        ? takeTime(between(1, 100), undefined).then(() => createProvider(tenant))
        : createProvider(tenant),
    { timeoutMs, maxEntries: pick([1, 2, 10]) },
  )
  // Two with one store are as two processes.
  const providers = kind === 'pool' ? [] : [createProvider('tenant-0')]
  if (kind === 'store') providers.push(createProvider('tenant-0'))
  const providerOf = (tenant: string): TokenProvider => (kind === 'pool' ? pool.for(tenant) : pick(providers))

  const calls: Call[] = []
  let actsToBegin = 0
  // Acts meet where they begin at nearly the same time.
  const moments = [1, 1, between(50, 4_000), between(50, 4_000), between(2_000, 90_000)]
  let isClosed = false

  const later = (act: () => void): void => {
    actsToBegin++
    const begin = (): void => {
      actsToBegin--
      // A closed pool has no providers.
      if (kind !== 'pool' || !isClosed) act()
    }
    setTimeout(begin, pick(moments) + between(0, pick([1, 1, 400])))
  }
  const call = (
    what: string,
    longestMs: number,
    tokens: TokenProvider | undefined,
    work: (signal: AbortSignal | undefined) => Promise<unknown>,
    check: (result: unknown, call: Call) => void,
  ): void => {
    const call: Call = { what, longestMs }
    calls.push(call)
    const controller = chance(0.4) ? new AbortController() : undefined
    const reason = new Error('left')
    later(() => {
      call.startedAt = performance.now()
      const counted = tokens && observed.get(tokens)
      if (counted) counted.calls++
      let abortTimer: ReturnType<typeof setTimeout> | undefined
      const settle = (): void => {
        clearTimeout(abortTimer)
        call.settledAt = performance.now()
        if (counted) counted.calls--
      }
      work(controller?.signal).then(
        (result) => {
          settle()
          check(result, call)
        },
        (error: unknown) => {
          settle()
          const isOfApi = error instanceof TypeError && error.message === 'fetch failed'
          const isFine = isTokenError(error) ? error.kind !== 'aborted' || isClosed : isOfApi
          if (!isFine && !(call.abortedAt !== undefined && error === reason)) {
            oracle.report(`${what} failed: ${String(error)}`)
          }
        },
      )
      if (controller === undefined) return
      const abort = (): void => {
        call.abortedAt = performance.now()
        controller.abort(reason)
      }
      if (chance(0.1)) abort()
      else abortTimer = setTimeout(abort, between(1, pick([10, 1_000, 40_000])))
    })
  }

  const request = (): void => {
    const tenant = pick(tenants)
    const tokens = kind === 'pool' ? undefined : pick(providers)
    const origin = pick([origins.first, origins.first, origins.first, origins.second, origins.foreign])
    const shape = pick(['get', 'post', 'stream', 'request', 'request with a stream'])
    const number =
      oracle.requests.push({
        tenant,
        isStream: shape === 'stream',
        arrivals: [],
        handled: 0,
        isDeaf: false,
        hasForeignResponse: false,
      }) - 1
    const attached: AttachableTokens = tokens ?? (() => pool.for(tenant))
    const api = createTokenFetch(attached, { allowedOrigins, fetch: createApis(world) })
    const url = `${origin}/path-${number}?request=${number}`
    const observedTokens = origin === origins.foreign ? undefined : tokens
    const longestMs = 2 * timeoutMs + 25 * 60_000
    const send = (signal: AbortSignal | undefined): Promise<Response> => {
      const stream = shape.endsWith('stream') ? new Response('payload').body! : 'payload'
      const init = { method: 'POST', body: stream, duplex: 'half', ...(signal && { signal }) } as RequestInit
      if (shape === 'get') return api(url, signal && { signal })
      return shape.startsWith('request') ? api(new Request(url, init)) : api(url, init)
    }
    call(`request ${number} (${shape})`, longestMs, observedTokens, send, (result) => {
      const { arrivals } = oracle.requests[number]!
      if (arrivals.length === 0) oracle.report(`request ${number} was lost`)
      const { headers, status } = result as Response
      if (headers.get('request') !== String(number)) oracle.report(`request ${number}: another response`)
      const withToken = arrivals.filter(({ token }) => token !== undefined)
      // Nothing fails, so a revoked token is replaced, and the request is repeated.
      const isRepeated = withToken.length !== 1 || shape === 'stream' || isClosed
      if (isCalm && status === 401 && !isRepeated) oracle.report(`request ${number} was not repeated`)
    })
  }

  const getToken = (): void => {
    const tenant = pick(tenants)
    const tokens = providerOf(tenant)
    const options = { forceRefresh: chance(0.3), minimumValidityMs: pick([undefined, 1_000, 60_000, 1e9]) }
    let rejectedBefore: ReadonlySet<string>
    const get = (signal: AbortSignal | undefined): Promise<unknown> => {
      rejectedBefore = new Set(rejected.get(tokens))
      return tokens.getToken({ ...options, signal })
    }
    call(`getToken for ${tenant}`, timeoutMs + 200, tokens, get, (result, { abortedAt }) => {
      const { value } = result as { value: string }
      oracle.checkToken(value, tenant, 'getToken')
      if (abortedAt !== undefined) oracle.report('an aborted caller got a token')
      if (isCalm && kind !== 'pool' && rejectedBefore.has(value)) oracle.report('getToken: a rejected token')
    })
  }

  const rejected = new Map<TokenProvider, Set<string>>()
  const reject = (): void => {
    const tokens = providerOf(pick(tenants))
    const token = tokens.peekToken()
    if (token === undefined) return
    tokens.reject(token)
    rejected.set(tokens, (rejected.get(tokens) ?? new Set()).add(token.value))
  }
  const reset = (): void => {
    const tokens = providerOf(pick(tenants))
    const seen = observed.get(tokens)
    if (seen === undefined) return
    Object.assign(seen, { wasReset: true, pausedUntil: 0 })
    rejected.delete(tokens)
    tokens.reset()
  }
  const close = (): Promise<unknown> => {
    isClosed = true
    for (const provider of oracle.providers) provider.mayClose = true
    return Promise.all([pool.close(), ...providers.map((tokens) => tokens.close())])
  }

  const acts = 3 + Math.floor(random() * 12)
  for (let act = 0; act < acts; act++) {
    const what = pick([
      'request',
      'request',
      'request',
      'request',
      'get',
      'get',
      'reject',
      'reset',
      'revoke',
      'close',
    ])
    if (what === 'request') request()
    else if (what === 'get') getToken()
    else if (what === 'reject') later(reject)
    else if (what === 'reset') later(reset)
    else if (what === 'revoke') later(() => oracle.revokeAll())
    else if (kind === 'pool' && chance(0.7)) later(() => pool.delete(pick(tenants)))
    else if (chance(0.3)) later(() => void close())
  }

  const isDone = (): boolean => {
    // The calls of a pool's provider are not known here.
    if (kind !== 'pool') oracle.checkAbandoned()
    return actsToBegin === 0 && calls.every(hasSettled)
  }
  await runTimers(60 * 60_000, isDone)
  for (const { what, longestMs, startedAt, abortedAt, settledAt } of calls) {
    if (startedAt === undefined) continue
    if (settledAt === undefined) oracle.report(`${what} never settled`)
    else if (settledAt - startedAt > longestMs) oracle.report(`${what} took ${settledAt - startedAt} ms`)
    const number = /^request (\d+)/.exec(what)?.[1]
    const isDeaf = number !== undefined && oracle.requests[Number(number)]!.isDeaf
    const isIgnored = abortedAt !== undefined && settledAt !== undefined && settledAt > abortedAt + abortMs
    if (isIgnored && !isDeaf) oracle.report(`${what}: its abort was ignored`)
  }
  let hasClosed = false
  void close().then(() => (hasClosed = true))
  await runTimers(10 * 60_000, () => hasClosed)
  if (!hasClosed) oracle.report('close never settled')
  // Metadata is not a provider's own: its request continues.
  await runTimers(60_000, () => kind !== 'resource' || timersOfCore() === 0)
  if (timersOfCore() > 0) oracle.report(`${timersOfCore()} timers left`)
  return oracle.problems.map((problem) => `seed ${seed} (${kind}), ${problem}`)
}
