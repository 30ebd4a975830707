import { runProcess, roundRobin } from '../method/run-process.ts'
import { median } from '../method/figures.ts'
import type { RunningServer } from '../servers/start-server.ts'
import type { LoadResult } from './load-process.ts'

export interface Throughput {
  readonly perSecond: number
  readonly cpuUs: number
  readonly p99Ms: number
}

// By then the code that serves a request is compiled, which takes seconds.
export const warmUpSeconds = 3

/** Loads the servers in turn, after each was warmed up; returns the results of each by round. */
export async function loadInTurn<Id extends string>(
  servers: ReadonlyMap<Id, RunningServer>,
  rounds: number,
  seconds: number,
): Promise<Map<Id, Throughput[]>> {
  const load = async ({ url, bodies }: RunningServer, forSeconds: number): Promise<LoadResult> =>
    runProcess('scenarios/load-process.ts', { url, bodies, seconds: forSeconds })
  for (const server of servers.values()) await load(server, warmUpSeconds)
  return roundRobin([...servers.keys()], rounds, async (id): Promise<Throughput> => {
    const server = servers.get(id)!
    const before = await server.usage()
    const { tokens, failures, seconds: took, p99Ms } = await load(server, seconds)
    if (failures > 0) throw new Error(`${id} failed ${failures} of ${tokens + failures} requests`)
    const cpuUs = ((await server.usage()).cpuUs - before.cpuUs) / tokens
    return { perSecond: tokens / took, cpuUs, p99Ms }
  })
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

/** The median of the ratios within a round: a disturbance of a round affects both. */
export function timesAsMany(rounds: readonly Throughput[], others: readonly Throughput[]): number {
  return median(rounds.map(({ perSecond }, index) => perSecond / others[index]!.perSecond))
}

/** The same of the CPU time per token. */
export function timesTheCost(rounds: readonly Throughput[], others: readonly Throughput[]): number {
  return median(rounds.map(({ cpuUs }, index) => cpuUs / others[index]!.cpuUs))
}
