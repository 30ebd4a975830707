import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createClient } from 'redis'
import { count, milliseconds } from '../method/figures.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'
import { redisInstalled, startRedis } from '../../../../packages/internal-testing/src/redis/redis-server.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const program = fileURLToPath(new URL('fleet-process.ts', import.meta.url))

export interface FleetRun {
  /** Until the last caller of the last process had its token. */
  readonly ms: number
  /** How many different ones they got. */
  readonly tokens: number
}

/** Starts the processes, and once all are ready lets their callers go at once. */
export async function runFleet(
  processes: number,
  settings: object,
  onReady: () => Promise<void>,
): Promise<FleetRun> {
  const children = Array.from({ length: processes }, () => fork(program, [JSON.stringify(settings)]))
  try {
    await Promise.all(children.map(nextMessage))
    await onReady()
    const runs = children.map((child) => nextMessage<{ ms: number; tokens: string[] }>(child))
    for (const child of children) child.send('go')
    const results = await Promise.all(runs)
    return {
      ms: Math.max(...results.map(({ ms }) => ms)),
      tokens: new Set(results.flatMap(({ tokens }) => tokens)).size,
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

async function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  const ended = once(child, 'exit').then(() => {
    throw new Error('A process of the fleet ended')
  })
  return ((await Promise.race([once(child, 'message'), ended])) as [Message])[0]
}

const sizes = [
  [1, 100],
  [8, 100],
  [16, 100],
  [16, 200],
] as const
const ids: PeerId[] = [
  'tokenwell-redis',
  'tokenwell',
  'closure',
  'badgateway-oauth2-client',
  'axios-token-interceptor',
  'simple-oauth2',
  'google-auth-library',
]

export async function fleet(): Promise<Result> {
  if (!redisInstalled) throw new Error('The fleet benchmark requires Redis: install redis-server 7 or later')
  await using redis = await startRedis()
  const endpoint = await startServer('token-endpoint', { latencyMs: 50, expiresIn: 3600 })
  const admin = createClient({ url: redis.url })
  await admin.connect()
  /** The store uses scripts only: each call of one is a round trip. */
  const trips = async (): Promise<number> =>
    [...(await admin.info('commandstats')).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
      (sum, match) => sum + Number(match[1]),
      0,
    )

  const rows: string[][] = []
  const bars: { label: string; value: number; text: string }[] = []
  const cells: Record<string, string> = {}
  for (const id of ids) {
    const { name } = await loadPeer(id)
    // One size is enough for peers that share nothing.
    for (const [processes, callers] of id === 'tokenwell-redis' ? sizes : sizes.slice(-1)) {
      const settings = { id, callers, tokenEndpoint: endpoint.url, clientId: 'id', clientSecret: 'secret' }
      const measure = async (warm: boolean) => {
        await admin.flushDb()
        let before = { requests: 0, trips: 0 }
        const { ms } = await runFleet(processes, { ...settings, warm, redisUrl: redis.url }, async () => {
          before = { requests: (await endpoint.usage()).requests, trips: await trips() }
        })
        return {
          requests: (await endpoint.usage()).requests - before.requests,
          trips: (await trips()) - before.trips,
          ms,
        }
      }
      const warm = await measure(true)
      const { requests, trips: tripped, ms } = await measure(false)
      rows.push([
        name,
        `${processes} × ${callers}`,
        count(requests),
        id === 'tokenwell-redis' ? count(tripped) : '–',
        milliseconds(ms),
        milliseconds(warm.ms),
      ])
      cells[name] = count(requests)
      if (processes === sizes.at(-1)![0] && callers === sizes.at(-1)![1]) {
        bars.push({ label: name, value: requests, text: count(requests) })
      }
    }
  }
  admin.destroy()
  endpoint.stop()

  return {
    title: 'Fleet',
    note: 'Processes that all start without a token, with concurrent callers. The token endpoint takes 50 ms; a real Redis runs alongside it, and entries are encrypted.',
    tables: [
      {
        title: 'Token requests of a fleet',
        columns: [
          'peer',
          'processes × callers',
          'token requests',
          'Redis round trips',
          'last caller served',
          'in processes that have requested a token before',
        ],
        rows,
        notes: [
          'None of the peers has a shared store: each process sends its own requests. The peers that are missing cache no token, or return none.',
          'While another process requests the token, a process looks again after a fifth of the time that it has waited: every 10 to 200 ms. Once it has the token, it needs no more round trips.',
        ],
      },
    ],
    charts: [{ name: 'fleet', title: 'Token requests of 16 processes with 200 callers each', bars }],
    comparisons: [],
    overview: [
      {
        title: 'token requests, 16 processes',
        cells,
        absent: 'not measured: it caches no token, or returns none',
      },
    ],
  }
}
