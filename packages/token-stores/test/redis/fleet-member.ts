import { setTimeout } from 'node:timers/promises'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import { clientCredentials, type TokenProvider } from '@tokenwell/core'
import { createRedisTokenStore } from '@tokenwell/token-stores/redis'
import { expiryOf } from './token-endpoint.ts'

// One process of a fleet: executes the orders of its parent and reports the results. Started by startFleet.

/** The settings of one process. */
export interface MemberSettings {
  readonly member: number
  readonly redis: {
    /** @default 'redis' */
    readonly client?: 'redis' | 'ioredis' | undefined
    readonly form: 'server' | 'cluster' | 'sentinel'
    readonly ports: readonly number[]
  }
  readonly tokenEndpoint: string
  readonly encryptionKeys?: readonly string[] | undefined
  readonly refreshAheadMs?: number | undefined
  /** Deviation of this process's wall clock in milliseconds. */
  readonly skewMs?: number | undefined
}

/** Makes `calls` at once, or `perSecond` for `forMs`. */
export interface Order {
  readonly scope: string
  /** Of the provider, if this is the first order for its scope. */
  readonly timeoutMs?: number | undefined
  readonly calls?: number | undefined
  readonly perSecond?: number | undefined
  readonly forMs?: number | undefined
}

/** The result of an order. */
export interface OrderResult {
  calls: number
  failures: string[]
  /** Calls that found no cached token. */
  blocked: number
  longestMs: number
  /** Of each call that found no cached token. */
  waits: number[]
  /** Tokens that were returned after they had expired. */
  expired: number
  tokens: string[]
  /** The number of events of each type, such as `token_requested first`. */
  events: Record<string, number>
}

const settings = JSON.parse(process.argv[2]!) as MemberSettings
const { member, redis, tokenEndpoint, encryptionKeys, refreshAheadMs, skewMs = 0 } = settings
const trueNow = Date.now.bind(Date)
Date.now = () => trueNow() + skewMs

const client = createClientOf(redis)
client.on('error', () => {})
await client.connect()
const store = createRedisTokenStore({ client, encryptionKeys })
const providers = new Map<string, { readonly tokens: TokenProvider; events: OrderResult['events'] }>()

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  void execute(order).then((result) => process.send!({ id, result }))
})
// Ends with its parent, even if that was killed.
process.once('disconnect', () => process.exit())
process.send!({ ready: true })

function createClientOf({ client = 'redis', form, ports }: MemberSettings['redis']) {
  const hosts = ports.map((port) => ({ host: '127.0.0.1', port }))
  if (client === 'ioredis') {
    if (form === 'cluster') return new Cluster(hosts, { lazyConnect: true })
    if (form === 'sentinel') return new Redis({ name: 'main', sentinels: hosts, lazyConnect: true })
    return new Redis({ ...hosts[0]!, lazyConnect: true })
  }
  if (form === 'cluster') return createCluster({ rootNodes: hosts.map((socket) => ({ socket })) })
  if (form === 'sentinel') return createSentinel({ name: 'main', sentinelRootNodes: hosts })
  return createClient({ socket: hosts[0]! })
}

function providerOf({ scope, timeoutMs }: Order) {
  const known = providers.get(scope)
  if (known) return known
  const tokens = clientCredentials({
    tokenEndpoint,
    clientId: 'fleet',
    clientSecret: 'secret',
    scope,
    fetch: (url, init) => {
      const facts = { 'x-member': String(member), 'x-sent-at': String(trueNow()) }
      return fetch(url, { ...init, headers: { ...(init?.headers as object), ...facts } })
    },
    store,
    refreshAheadMs,
    timeoutMs,
    onEvent(event) {
      const { events } = provider
      const name = [event.type, 'reason' in event ? event.reason : '', 'cause' in event ? event.cause : '']
      const key = name.filter(Boolean).join(' ')
      events[key] = (events[key] ?? 0) + 1
    },
  })
  const provider = { tokens, events: {} as OrderResult['events'] }
  providers.set(scope, provider)
  return provider
}

async function execute(order: Order): Promise<OrderResult> {
  const { calls = 0, perSecond = 0, forMs = 0 } = order
  const provider = providerOf(order)
  const result = {
    calls: 0,
    failures: [] as string[],
    blocked: 0,
    longestMs: 0,
    waits: [] as number[],
    expired: 0,
  }
  const tokens = new Set<string>()
  provider.events = {}
  async function call(): Promise<void> {
    const began = performance.now()
    result.calls++
    const isCached = provider.tokens.peekToken() !== undefined
    if (!isCached) result.blocked++
    try {
      const { value } = await provider.tokens.getToken()
      if (expiryOf(value) <= trueNow()) result.expired++
      tokens.add(value)
    } catch (error) {
      result.failures.push(String(error))
    }
    const waitedMs = performance.now() - began
    result.longestMs = Math.max(result.longestMs, waitedMs)
    if (!isCached) result.waits.push(waitedMs)
  }
  const under: Promise<void>[] = Array.from({ length: calls }, call)
  const began = performance.now()
  while (performance.now() - began < forMs) {
    const due = ((performance.now() - began) / 1000) * perSecond
    while (result.calls < due) under.push(call())
    await setTimeout(2)
  }
  await Promise.all(under)
  return { ...result, tokens: [...tokens], events: provider.events }
}
