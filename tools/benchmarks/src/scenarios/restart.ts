import { count, ratio } from '../method/figures.ts'
import { runProcess } from '../method/run-process.ts'
import type { Result } from '../result.ts'
import type { Contender } from './restart-process.ts'

/** What is shown, and the share of it that is simulated. */
const fleet = { instances: 100_000, perSecond: 50 }
const scale = 50
const minutes = 50

const contenders: readonly { readonly id: Contender; readonly name: string }[] = [
  { id: 'patient', name: '@tokenwell/core, timeoutMs: 1 h' },
  { id: 'tokenwell', name: '@tokenwell/core' },
  { id: 'closure', name: 'hand-written closure' },
  { id: 'simple-oauth2', name: 'simple-oauth2' },
]

interface Found {
  /** Instances without a token, every half minute. */
  readonly queue: readonly number[]
  readonly failures: number
  readonly lastServedMs: number
  readonly requests: number
  readonly busiest: number
  readonly secondsAbove: number
  readonly longestRetryAfterMs: number
}

export async function restart(): Promise<Result> {
  const rows: (Found & { readonly name: string })[] = []
  for (const { id, name } of contenders) {
    const given = { id, instances: fleet.instances / scale, perSecond: fleet.perSecond / scale, minutes }
    rows.push({ name, ...(await runProcess<Found>('scenarios/restart-process.ts', given)) })
  }
  const patient = rows[0]!
  return {
    title: 'Restart of a fleet',
    note: `A simulation: ${count(fleet.instances)} processes start within a second, each with its own credentials and tokens of one hour, at a token endpoint that serves ${fleet.perSecond} requests a second and tells all others, with a 429 and \`Retry-After\`, when it will serve them. Two callers in each process need a token every 10 s on average, for ${minutes} minutes. The code of the peers is real; time and the network are simulated. One in ${scale} processes is simulated, at 1/${scale} of the limit, and the counts are multiplied by ${scale}, because the processes are independent of each other.`,
    tables: [
      {
        title: 'Restart of a fleet',
        columns: [
          'peer',
          'token requests',
          'relative to ours',
          'above twice the limit for',
          'most in a second',
          'failed calls',
          'all have a token after',
        ],
        rows: rows.map((row) => [
          row.name,
          count(row.requests * scale),
          ratio(row.requests / patient.requests),
          `${count(row.secondsAbove)} s`,
          count(row.busiest * scale),
          count(row.failures * scale),
          row.queue.at(-1) === 0 ? `${(row.lastServedMs / 60_000).toFixed(0)} min` : 'not yet',
        ]),
        notes: [
          `With \`timeoutMs: 3_600_000, maxAttempts: Infinity\` callers wait for as long as \`Retry-After\` says, which was at most ${count(patient.longestRetryAfterMs / 1000)} s. By default they wait for 30 s and otherwise fail at once, without a request of their own; the next request follows after 60 s at the latest.`,
          'simple-oauth2 does not share a request between callers. Its own HTTP client is replaced, because it does not run in simulated time.',
        ],
      },
    ],
    charts: [],
    lineCharts: [
      {
        name: 'restart',
        title: `Processes without a token, for ${minutes} minutes after a restart`,
        end: `${minutes} min`,
        lines: rows.map(({ name, queue }) => ({ label: name, values: queue.map((each) => each * scale) })),
      },
    ],
    comparisons: [],
    overview: [],
  }
}
