import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { measure } from '@tokenwell/internal-testing/measure'
import { expect, vi } from 'vitest'
import type { MemberSettings, Order, OrderResult } from './fleet-member.ts'
import type { TokenEndpoint, TokenRequestRecord } from './token-endpoint.ts'

const program = fileURLToPath(new URL('fleet-member.ts', import.meta.url))

export interface FleetMember {
  execute(order: Order): Promise<OrderResult>
  /** Pauses or resumes the process. */
  freeze(frozen: boolean): void
  /** Kills the process, as a crash would. Its orders fail. */
  kill(): Promise<void>
}

export interface Fleet extends AsyncDisposable {
  readonly members: FleetMember[]
  /**
   * Whether Redis has responded to all processes in time since this was last asked. On a busy machine it may not, and a
   * process then requests a token without it.
   */
  keptUp(): boolean
  /** Starts another process in place of a killed one. */
  replace(member: number): Promise<void>
}

/** @param settings of each member, or of all */
export async function startFleet(
  size: number,
  settings: (member: number) => Omit<MemberSettings, 'member'>,
): Promise<Fleet> {
  let slow = 0
  const start = (member: number) =>
    startMember(
      { ...settings(member), member },
      ({ events }) => (slow += events['store_unavailable slow'] ?? 0),
    )
  const members = await Promise.all(Array.from({ length: size }, (_, member) => start(member)))
  return {
    members,
    keptUp() {
      const keptUp = slow === 0
      slow = 0
      return keptUp
    },
    async replace(member) {
      members[member] = await start(member)
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(members.map((member) => member.kill()))
    },
  }
}

async function startMember(
  settings: MemberSettings,
  onResult: (result: OrderResult) => void,
): Promise<FleetMember> {
  const child: ChildProcess = fork(program, [JSON.stringify(settings)], {
    execArgv: ['--conditions=@tokenwell/source', '--disable-warning=ExperimentalWarning'],
  })
  const waiting = new Map<number, (result: OrderResult | Error) => void>()
  let orders = 0
  child.on('message', ({ id, result }: { id: number; result: OrderResult }) => waiting.get(id)?.(result))
  child.once('exit', () => {
    for (const settle of waiting.values()) settle(new Error('The process exited'))
  })
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('A fleet member did not start'))),
  ])
  return {
    execute(order) {
      const id = ++orders
      return new Promise((resolve, reject) => {
        waiting.set(id, (result) => {
          waiting.delete(id)
          if (result instanceof Error) return reject(result)
          onResult(result)
          resolve(result)
        })
        child.send({ id, order })
      })
    },
    freeze: (frozen) => void child.kill(frozen ? 'SIGSTOP' : 'SIGCONT'),
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

const deadline = { timeout: 20_000 }

/** Adds up the results of all members. */
export function sum(results: readonly OrderResult[]): OrderResult {
  const events: Record<string, number> = {}
  for (const [name, count] of results.flatMap((result) => Object.entries(result.events))) {
    events[name] = (events[name] ?? 0) + count
  }
  const total = (member: 'calls' | 'blocked' | 'expired') =>
    results.reduce((count, result) => count + result[member], 0)
  return {
    calls: total('calls'),
    blocked: total('blocked'),
    expired: total('expired'),
    failures: results.flatMap(({ failures }) => failures),
    longestMs: Math.round(Math.max(...results.map(({ longestMs }) => longestMs))),
    waits: results.flatMap(({ waits }) => waits),
    tokens: [...new Set(results.flatMap(({ tokens }) => tokens))],
    events,
  }
}

/** All processes call at once with an empty store: they share one token request. */
export function callColdFleet(fleet: Fleet, endpoint: TokenEndpoint, calls: number) {
  return measure('a cold fleet shares one token request', async () => {
    const scope = crypto.randomUUID()
    fleet.keptUp()
    const result = sum(await Promise.all(fleet.members.map((member) => member.execute({ scope, calls }))))
    const requests = requestsFor(endpoint, scope).length
    const keptUp = fleet.keptUp()
    expect(result).toMatchObject({ calls: calls * fleet.members.length, failures: [], expired: 0 })
    if (keptUp) expect({ requests, tokens: result.tokens.length }).toEqual({ requests: 1, tokens: 1 })
    return { keptUp, scope, requests, result }
  })
}

/** Load on a fleet that has a token: each refresh is one request, and no caller waits for it. */
export function refreshUnderLoad(
  fleet: Fleet,
  endpoint: TokenEndpoint,
  order: { readonly scope: string; readonly perSecond: number; readonly forMs: number },
  soonestMs: number,
) {
  return measure('a fleet refreshes its token under load, and no caller waits', async () => {
    // The first one is that of the token which the fleet has.
    const before = requestsFor(endpoint, order.scope).length - 1
    const newRequests = () => requestsFor(endpoint, order.scope).slice(before)
    fleet.keptUp()
    const result = sum(await Promise.all(fleet.members.map((member) => member.execute(order))))
    // The last refresh may still be in flight.
    await vi.waitFor(() => expect(newRequests().length).toBeGreaterThan(1), deadline)
    // A lifetime starts when the request is sent; how long the request takes depends on the machine.
    const times = newRequests().map(({ sentAt }) => sentAt)
    const gaps = times.slice(1).map((time, index) => time - times[index]!)
    const keptUp = fleet.keptUp()
    expect(result).toMatchObject({ failures: [], expired: 0 })
    if (keptUp) {
      expect(result.blocked).toBe(0)
      expect(Math.min(...gaps)).toBeGreaterThan(soonestMs)
    }
    expect(result.tokens.length).toBeLessThanOrEqual(times.length)
    return { keptUp, result, gaps }
  })
}

/** The process that requests a token is killed when its request has arrived. */
export interface Killing {
  readonly endpoint: TokenEndpoint
  /** The sender of the next request for one of these scopes is killed. */
  readonly victims: Set<string>
}

/**
 * Kills the holder of the lease during its token request, with an empty store or during a refresh: the others share
 * one new token, or two, and wait no longer than a lease and one request.
 */
export async function killHolder(fleet: Fleet, killing: Killing, during: 'first' | 'refresh') {
  const title = `a fleet loses the process that requests a token (${during})`
  return (await measure(title, () => killHolderOnce(fleet, killing, during))).result
}

async function killHolderOnce(fleet: Fleet, { endpoint, victims }: Killing, during: 'first' | 'refresh') {
  const scope = during === 'first' ? crypto.randomUUID() : (await callColdFleet(fleet, endpoint, 1)).scope
  const before = requestsFor(endpoint, scope).length
  victims.add(scope)
  fleet.keptUp()
  const order = during === 'first' ? { scope, calls: 100 } : { scope, perSecond: 20, forMs: 6_000 }
  const settled = await Promise.allSettled(fleet.members.map((member) => member.execute(order)))
  const requests = requestsFor(endpoint, scope).slice(before)
  const [killed, ...others] = requests.map(({ issued }) => issued)
  const result = sum(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  const keptUp = fleet.keptUp()
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(result).toMatchObject({ failures: [], expired: 0 })
  expect({ killed, issued: others.filter(Boolean).length }).toEqual({ killed: false, issued: others.length })
  expect(others.length).toBeGreaterThan(0)
  // When the lease expires, one process may take it while another one, which has waited as long, takes the fallback.
  if (keptUp) {
    expect(others.length).toBeLessThanOrEqual(2)
    // Two leases would last 10 s.
    expect(result.longestMs).toBeLessThan(9_500)
  }
  await fleet.replace(requests[0]!.member)
  return { keptUp, result }
}

export function requestsFor(endpoint: TokenEndpoint, scope: string): TokenRequestRecord[] {
  return endpoint.requests.filter((request) => request.scope === scope)
}

/** Writes figures to the log. */
export function report(name: string, figures: object): void {
  process.stdout.write(`  ${name}: ${JSON.stringify(figures)}\n`)
}

/** A row of a soak table. */
export function rowOf(result: OrderResult, endpoint: TokenEndpoint, figures?: string) {
  const { calls, failures, longestMs } = result
  return {
    calls,
    failures: failures.length,
    worstMs: longestMs,
    tokenRequests: endpoint.requests.length,
    figures,
  }
}
