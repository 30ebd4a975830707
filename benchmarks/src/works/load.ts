import { runProcess } from '../method/run-process.ts'
import { roundRobin } from '../method/round-robin.ts'
import { median } from '../method/statistics.ts'
import type { RunningServer } from '../servers/start-server.ts'
import type { LoadResult } from './load-process.ts'

export interface Throughput {
  readonly perSecond: number
  readonly cpuUs: number
  readonly p99Ms: number
}

/** Loads the servers in turn; what is found of each by round, the first of which only warms up. */
export async function loadInTurn<Id extends string>(
  servers: ReadonlyMap<Id, RunningServer>,
  rounds: number,
  seconds: number,
): Promise<Map<Id, Throughput[]>> {
  const found = await roundRobin([...servers.keys()], rounds + 1, async (id): Promise<Throughput> => {
    const server = servers.get(id)!
    const before = await server.usage()
    const { url, bodies } = server
    const { tokens, failures, ...load } = await runProcess<LoadResult>('works/load-process.ts', {
      url,
      bodies,
      seconds,
    })
    if (failures > 0) throw new Error(`${id} failed ${failures} of ${tokens + failures} requests`)
    const cpuUs = ((await server.usage()).cpuUs - before.cpuUs) / tokens
    return { perSecond: tokens / load.seconds, cpuUs, p99Ms: load.p99Ms }
  })
  for (const rounds of found.values()) rounds.shift()
  return found
}

/** The median of each figure. */
export function typical(rounds: readonly Throughput[]): Throughput {
  const of = (figure: (each: Throughput) => number): number => median(rounds.map(figure))
  return {
    perSecond: of(({ perSecond }) => perSecond),
    cpuUs: of(({ cpuUs }) => cpuUs),
    p99Ms: of(({ p99Ms }) => p99Ms),
  }
}

/** The median of the ratios within a round: what disturbs a round disturbs both. */
export function timesAsMany(rounds: readonly Throughput[], others: readonly Throughput[]): number {
  return median(rounds.map(({ perSecond }, index) => perSecond / others[index]!.perSecond))
}

/** The same of the processor time of a token. */
export function timesTheCost(rounds: readonly Throughput[], others: readonly Throughput[]): number {
  return median(rounds.map(({ cpuUs }, index) => cpuUs / others[index]!.cpuUs))
}
