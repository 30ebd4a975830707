import { bytes, count, ratio } from '../method/figures.ts'
import { startServer, type RunningServer } from '../servers/start-server.ts'
import type { Table } from '../result.ts'
import { loadInTurn, timesTheCost, typical } from './load.ts'

const sizes = [
  { applications: 1_000, tokens: 0 },
  { applications: 10_000, tokens: 50_000 },
  { applications: 20_000, tokens: 100_000 },
]

/** The same service with little, much, and twice as much data in memory. */
export async function growthTable(): Promise<Table> {
  const running = new Map<string, RunningServer>()
  const heaps: number[] = []
  for (const [index, size] of sizes.entries()) {
    const server = await startServer('tokenwell-filled', size)
    heaps.push((await server.usage()).heapBytes)
    running.set(String(index), server)
  }
  const found = await loadInTurn(running, 3, 2)
  for (const server of running.values()) server.stop()

  const [least, half, whole] = sizes.map((_, index) => found.get(String(index))!)
  return {
    title: 'Growth with stored data',
    columns: [
      'applications',
      'tokens stored',
      'time per token relative to the first row',
      'per token',
      'tokens/s',
      'p99',
      'heap',
    ],
    rows: sizes.map(({ applications, tokens }, index) => {
      const own = found.get(String(index))!
      const { perSecond, cpuUs, p99Ms } = typical(own)
      const cells = [count(applications), count(tokens), ratio(timesTheCost(own, least!))]
      return [...cells, `${cpuUs.toFixed(0)} µs`, count(perSecond), `${p99Ms} ms`, bytes(heaps[index]!)]
    }),
    notes: [
      `Twice as many applications and tokens: ${ratio(timesTheCost(whole!, half!))} the CPU time per token.`,
      'A thousand of the applications, spread over all, request tokens.',
    ],
  }
}
