import { expect, vi } from 'vitest'
import type { Fleet } from './fleet.ts'
import type { OrderResult } from './fleet-member.ts'
import type { TokenEndpoint, TokenRequestRecord } from './token-endpoint.ts'

const patience = { timeout: 20_000 }

/** What all members report, together. */
export function together(results: readonly OrderResult[]): OrderResult {
  const events: Record<string, number> = {}
  for (const [name, count] of results.flatMap((result) => Object.entries(result.events))) {
    events[name] = (events[name] ?? 0) + count
  }
  const sum = (member: 'calls' | 'blocked' | 'expired') =>
    results.reduce((total, result) => total + result[member], 0)
  return {
    calls: sum('calls'),
    blocked: sum('blocked'),
    expired: sum('expired'),
    failures: results.flatMap(({ failures }) => failures),
    longestMs: Math.round(Math.max(...results.map(({ longestMs }) => longestMs))),
    tokens: [...new Set(results.flatMap(({ tokens }) => tokens))],
    events,
  }
}

/** Every process calls at once with nothing in the store: one token request in all. */
export async function callColdFleet(fleet: Fleet, endpoint: TokenEndpoint, calls: number) {
  const scope = crypto.randomUUID()
  const result = together(await Promise.all(fleet.members.map((member) => member.obey({ scope, calls }))))
  const asked = requestsFor(endpoint, scope).length
  expect(result).toMatchObject({ calls: calls * fleet.members.length, failures: [], expired: 0 })
  if (fleet.keptUp()) expect({ asked, tokens: result.tokens.length }).toEqual({ asked: 1, tokens: 1 })
  return { scope, asked, result }
}

/** Load on a fleet that has a token: each renewal is one request, and nobody waits for it. */
export async function renewUnderLoad(
  fleet: Fleet,
  endpoint: TokenEndpoint,
  order: { readonly scope: string; readonly perSecond: number; readonly forMs: number },
  soonestMs: number,
) {
  const result = together(await Promise.all(fleet.members.map((member) => member.obey(order))))
  // The last renewal that the load has brought about may still be on its way.
  await vi.waitFor(() => expect(requestsFor(endpoint, order.scope).length).toBeGreaterThan(1), patience)
  // A token's life is counted from there: how long a request takes to arrive is the machine's affair.
  const times = requestsFor(endpoint, order.scope).map(({ sentAt }) => sentAt)
  const gaps = times.slice(1).map((time, index) => time - times[index]!)
  expect(result).toMatchObject({ failures: [], expired: 0 })
  if (fleet.keptUp()) {
    expect(result.blocked).toBe(0)
    expect(Math.min(...gaps)).toBeGreaterThan(soonestMs)
  }
  expect(result.tokens.length).toBeLessThanOrEqual(times.length)
  return { result, gaps }
}

/** The process that asks for a token, killed when its request has arrived. */
export interface Killing {
  readonly endpoint: TokenEndpoint
  /** Scopes whose next request is its sender's last. */
  readonly victims: Set<string>
}

/**
 * Kills the holder of the lease in the middle of its token request, on a cold cache or during a renewal: the
 * others get one new token between them, and wait no longer than the lease and one request.
 */
export async function killHolder(fleet: Fleet, { endpoint, victims }: Killing, during: 'first' | 'renewal') {
  const scope = during === 'first' ? crypto.randomUUID() : (await callColdFleet(fleet, endpoint, 1)).scope
  const before = requestsFor(endpoint, scope).length
  victims.add(scope)
  const order = during === 'first' ? { scope, calls: 100 } : { scope, perSecond: 20, forMs: 6_000 }
  const settled = await Promise.allSettled(fleet.members.map((member) => member.obey(order)))
  const requests = requestsFor(endpoint, scope).slice(before)
  const [killed, ...others] = requests.map(({ minted }) => minted)
  const result = together(settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
  expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  expect(result).toMatchObject({ failures: [], expired: 0 })
  expect({ killed, minted: others.filter(Boolean).length }).toEqual({ killed: false, minted: others.length })
  expect(others.length).toBeGreaterThan(0)
  if (fleet.keptUp()) expect(others).toHaveLength(1)
  // Two leases would be 10 s; the rest is for a machine that has other things to do.
  expect(result.longestMs).toBeLessThan(9_500)
  await fleet.replace(requests[0]!.member)
  return result
}

export function requestsFor(endpoint: TokenEndpoint, scope: string): TokenRequestRecord[] {
  return endpoint.requests.filter((request) => request.scope === scope)
}

/** Figures of a run, for whoever reads the log. */
export function report(name: string, figures: object): void {
  process.stdout.write(`  ${name}: ${JSON.stringify(figures)}\n`)
}
