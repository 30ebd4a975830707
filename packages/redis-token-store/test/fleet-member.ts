// One process of a fleet: does what its parent says, and tells how it went. Started by startFleet.
import { clientCredentials, createTokenProvider, type TokenProvider } from '@tokenwell/core'
import { createRedisTokenStore } from '@tokenwell/redis-token-store'
import { setTimeout } from 'node:timers/promises'
import { createClient, createCluster, createSentinel } from 'redis'
import { endOfLife } from './token-endpoint.ts'

/** How one process is set up. */
export interface MemberSettings {
  readonly member: number
  readonly redis: { readonly form: 'server' | 'cluster' | 'sentinel'; readonly ports: readonly number[] }
  readonly tokenUrl: string
  readonly encryptionKeys?: readonly string[] | undefined
  readonly refreshAheadMs?: number | undefined
  /** How far this process's wall clock is off, in milliseconds. */
  readonly skewMs?: number | undefined
}

/** What a member is told: `calls` at once, or `perSecond` for `forMs`. */
export interface Order {
  readonly scope: string
  readonly calls?: number | undefined
  readonly perSecond?: number | undefined
  readonly forMs?: number | undefined
}

/** How an order went. */
export interface OrderResult {
  calls: number
  failures: string[]
  /** Calls for which no token was at hand. */
  blocked: number
  longestMs: number
  /** Tokens handed out at or after the end of their life. */
  expired: number
  tokens: string[]
  /** How often each event came, such as `token_requested first`. */
  events: Record<string, number>
}

const settings = JSON.parse(process.argv[2]!) as MemberSettings
const { member, redis, tokenUrl, encryptionKeys, refreshAheadMs, skewMs = 0 } = settings
const trueNow = Date.now.bind(Date)
Date.now = () => trueNow() + skewMs

const client = connection()
client.on('error', () => {})
await client.connect()
const store = createRedisTokenStore({ client, encryptionKeys })
const providers = new Map<string, { readonly tokens: TokenProvider; events: OrderResult['events'] }>()

process.on('message', ({ id, order }: { id: number; order: Order }) => {
  void obey(order).then((result) => process.send!({ id, result }))
})
// A parent that was killed leaves nobody behind.
process.once('disconnect', () => process.exit())
process.send!({ ready: true })

function connection() {
  const hosts = redis.ports.map((port) => ({ host: '127.0.0.1', port }))
  if (redis.form === 'cluster') return createCluster({ rootNodes: hosts.map((socket) => ({ socket })) })
  if (redis.form === 'sentinel') return createSentinel({ name: 'main', sentinelRootNodes: hosts })
  return createClient({ socket: hosts[0]! })
}

function providerOf(scope: string) {
  const known = providers.get(scope)
  if (known) return known
  const source = clientCredentials({
    tokenUrl,
    clientId: 'fleet',
    clientSecret: 'secret',
    scope,
    fetch: (url, init) => {
      const facts = { 'x-member': String(member), 'x-sent-at': String(trueNow()) }
      return fetch(url, { ...init, headers: { ...(init?.headers as object), ...facts } })
    },
  })
  const tokens = createTokenProvider(source, {
    store,
    refreshAheadMs,
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

async function obey({ scope, calls = 0, perSecond = 0, forMs = 0 }: Order): Promise<OrderResult> {
  const provider = providerOf(scope)
  const result = { calls: 0, failures: [] as string[], blocked: 0, longestMs: 0, expired: 0 }
  const tokens = new Set<string>()
  provider.events = {}
  async function call(): Promise<void> {
    const began = performance.now()
    result.calls++
    if (!provider.tokens.peekToken()) result.blocked++
    try {
      const { value } = await provider.tokens.getToken()
      if (endOfLife(value) <= trueNow()) result.expired++
      tokens.add(value)
    } catch (error) {
      result.failures.push(String(error))
    }
    result.longestMs = Math.max(result.longestMs, performance.now() - began)
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
