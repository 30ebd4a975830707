import { bytes, count, nanoseconds, ratio } from '../method/figures.ts'
import { ranked } from '../method/contest.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds, type PeerId } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const most = 1_000_000
/** More than this in all is not tried. */
const limitBytes = 2 ** 30

interface Found {
  readonly bytes: number
  readonly createNs: number
  readonly warmNs?: number
}

export async function tenants(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs: 0, expiresIn: 3600 })
  /** The least of several rounds. */
  async function measure(id: PeerId, size: number, rounds: number): Promise<Found> {
    const found: Found[] = []
    for (let round = 0; round < rounds; round++) {
      const given = { id, tokenUrl: endpoint.url, tenants: size }
      const flags = ['--expose-gc', '--max-old-space-size=8192']
      found.push(await runProcess<Found>('works/tenants-process.ts', given, flags))
    }
    const least = (figure: (each: Found) => number): number => Math.min(...found.map(figure))
    return {
      bytes: least(({ bytes }) => bytes),
      createNs: least(({ createNs }) => createNs),
      ...(found[0]?.warmNs !== undefined && { warmNs: least(({ warmNs }) => warmNs!) }),
    }
  }

  const entries: { name: string; one: Found; thousand: Found; million?: Found; value: number }[] = []
  for (const id of peerIds) {
    const { name, beside } = await loadPeer(id)
    // Our adapters have no clients of their own to keep.
    if (beside && name.startsWith('@tokenwell/')) continue
    const one = await measure(id, 1, 1)
    const thousand = await measure(id, 1_000, 3)
    const value = thousand.bytes / 1_000
    const fits = value * most < limitBytes
    const million = fits && (await measure(id, most, id === 'tokenwell' ? 2 : 1))
    entries.push({ name, one, thousand, ...(million && { million }), value })
  }
  const half = await measure('tokenwell', most / 2, 2)
  endpoint.stop()

  const ours = entries[0]!
  const rows = ranked(entries)
  const warm = ({ warmNs }: Found): string => (warmNs === undefined ? '–' : nanoseconds(warmNs))
  const whole = ours.million!
  return {
    title: 'Tenants',
    note: 'One client for each tenant, with credentials of its own: ours in a pool, those of a peer in a map. Memory is what the heap grows by; a hundred of the tenants are in use, and `warm` is to find the client of one of them and to get its token.',
    tables: [
      {
        title: 'Memory',
        columns: ['peer', 'to ours', 'each of 1,000', 'each of 1,000,000', '1,000,000 in all'],
        rows: rows.map(({ name, value, million }) => [
          name,
          ratio(value / ours.value),
          bytes(value),
          million ? bytes(million.bytes / most) : '–',
          million ? bytes(million.bytes) : '–',
        ]),
        notes: [`– : a million would take more than ${bytes(limitBytes)}.`],
      },
      {
        title: 'Time',
        columns: [
          'peer',
          'to make one of 1,000',
          'of 1,000,000',
          'warm with 1',
          'with 1,000',
          'with 1,000,000',
        ],
        rows: rows.map(({ name, one, thousand, million }) => [
          name,
          nanoseconds(thousand.createNs),
          million ? nanoseconds(million.createNs) : '–',
          warm(one),
          warm(thousand),
          million ? warm(million) : '–',
        ]),
        notes: [
          `Twice as many tenants, ${count(most)} instead of ${count(most / 2)}, take @tokenwell/core ${ratio(whole.bytes / half.bytes)} the memory, ${ratio((whole.createNs * 2) / half.createNs)} the time to make, and ${ratio(whole.warmNs! / half.warmNs!)} the time for a warm token.`,
        ],
      },
    ],
    charts: [
      {
        name: 'tenants',
        title: 'Memory of one tenant, of a thousand',
        bars: rows.map(({ name: label, value }) => ({ label, value, text: bytes(value) })),
      },
    ],
    contests: [
      {
        what: 'the memory of a tenant',
        entries: entries.map(({ name, value }) => ({ name, value })),
        because: 'They keep less: no credentials of a tenant beside its token, or no token at all',
      },
      {
        what: "the time to make a tenant's client",
        entries: entries.map(({ name, thousand }) => ({ name, value: thousand.createNs })),
        because:
          'Ours looks at the options of each at once, so that what cannot be right is told when it is made',
      },
    ],
    overview: [
      {
        title: 'memory of a tenant',
        cells: Object.fromEntries(entries.map(({ name, value }) => [name, ratio(value / ours.value)])),
        absent: 'has no clients of its own: it takes those of @tokenwell/core',
      },
    ],
  }
}
