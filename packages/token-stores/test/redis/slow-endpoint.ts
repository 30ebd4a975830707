import { setTimeout } from 'node:timers/promises'
import {
  startTokenEndpoint,
  type Outcome,
  type TokenEndpoint,
  type TokenRequestRecord,
} from './token-endpoint.ts'

/**
 * A token endpoint that treats each scope as its name says: `takes 3000 ms`, `responds 503`, or `responds 429 for 20 s`
 * from the first request on.
 */
export function startSlowEndpoint(): Promise<TokenEndpoint> {
  const throttledUntil = new Map<string, number>()
  async function respond({ scope }: TokenRequestRecord): Promise<Outcome> {
    const [, ms] = /takes (\d+) ms/.exec(scope) ?? []
    if (ms !== undefined) return setTimeout(Number(ms), true)
    if (scope.includes('responds 503')) return { status: 503 }
    const [, seconds] = /responds 429 for (\d+) s/.exec(scope) ?? []
    if (seconds !== undefined) {
      const until = throttledUntil.get(scope) ?? Date.now() + Number(seconds) * 1_000
      throttledUntil.set(scope, until)
      const remaining = Math.ceil((until - Date.now()) / 1_000)
      if (remaining > 0) return { status: 429, headers: { 'retry-after': String(remaining) } }
    }
    return setTimeout(50, true)
  }
  return startTokenEndpoint({ lifetimeMs: 3_600_000, beforeResponse: respond })
}

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
