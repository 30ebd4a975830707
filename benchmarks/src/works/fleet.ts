import { createClient } from 'redis'
import { count, milliseconds } from '../method/figures.ts'
import { loadPeer, type PeerId } from '../peers/peers.ts'
import { startRedis } from '../servers/start-redis.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'
import { runFleet } from './run-fleet.ts'

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
  const redis = await startRedis()
  if (!redis) throw new Error('The fleet needs Redis: install redis-server, 7 or later')
  const endpoint = await startServer('token-endpoint', { latencyMs: 50, expiresIn: 3600 })
  const admin = createClient({ url: redis.url })
  await admin.connect()
  /** The store does everything by scripts: each call of one is a round trip. */
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
    // One size shows how those fare that share nothing.
    for (const [processes, callers] of id === 'tokenwell-redis' ? sizes : sizes.slice(-1)) {
      await admin.flushDb()
      const before = { requests: (await endpoint.usage()).requests, trips: await trips() }
      const settings = { id, callers, tokenUrl: endpoint.url, clientId: 'id', clientSecret: 'secret' }
      const { ms } = await runFleet(processes, { ...settings, redisUrl: redis.url })
      const requests = (await endpoint.usage()).requests - before.requests
      const tripped = (await trips()) - before.trips
      rows.push([
        name,
        `${processes} × ${callers}`,
        count(requests),
        id === 'tokenwell-redis' ? count(tripped) : '–',
        milliseconds(ms),
      ])
      cells[name] = count(requests)
      if (processes === sizes.at(-1)![0] && callers === sizes.at(-1)![1]) {
        bars.push({ label: name, value: requests, text: count(requests) })
      }
    }
  }
  admin.destroy()
  endpoint.stop()
  redis.stop()

  return {
    title: 'Fleet',
    note: 'Processes that all start without a token, and whose callers come at once. The token endpoint takes 50 ms; Redis is a real one beside it, entries are encrypted.',
    tables: [
      {
        title: 'Token requests of a fleet',
        columns: ['peer', 'processes × callers', 'token requests', 'Redis round trips', 'last caller served'],
        rows,
        notes: [
          'None of the peers has a store to share: each process asks for itself. The others keep no token, or hand none out.',
          'A process that finds another asking looks again every 25 to 200 ms. Once a process has its token it makes no more round trips.',
        ],
      },
    ],
    charts: [{ name: 'fleet', title: 'Token requests of 16 processes with 200 callers each', bars }],
    contests: [],
    overview: [
      {
        title: 'token requests, 16 processes',
        cells,
        absent: 'not measured: it keeps no token, or none that can be asked for',
      },
    ],
  }
}
