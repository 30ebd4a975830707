import { count, nanoseconds, ratio } from '../method/figures.ts'
import { runProcess } from '../method/run-process.ts'
import type { Result } from '../result.ts'

interface Found {
  readonly count: number
  readonly large: number
  readonly medianNs: number
  readonly slowestNs: number
  readonly halfNs: number
  readonly wholeNs: number
  readonly growth: number
}

/** `parseTokenResponse` has no peer: it reads what a hostile or broken endpoint sends. */
export async function parsing(): Promise<Result> {
  const found = await runProcess<Found>('scenarios/parsing-process.ts', {})
  return {
    title: 'Hostile responses',
    note: 'Reading unexpected token responses: random ones, built from the names and values that matter, and large ones that would keep a careless parser busy. The time of each response is the fastest of several rounds; for large ones, it is processor time.',
    tables: [
      {
        title: 'Time to read a response',
        columns: ['responses', 'size', 'median', 'slowest'],
        rows: [
          [
            `${count(found.count)} random`,
            'up to a few KiB',
            nanoseconds(found.medianNs),
            nanoseconds(found.slowestNs),
          ],
          [`${count(found.large)} large`, '0.5 MiB', '–', nanoseconds(found.halfNs)],
          [`${count(found.large)} large`, '1 MiB, the most that is read', '–', nanoseconds(found.wholeNs)],
        ],
        notes: [`Twice the size costs ${ratio(found.growth)} the time, all large responses together.`],
      },
    ],
    charts: [],
    overview: [],
    comparisons: [],
  }
}
