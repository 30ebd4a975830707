import { bytes, count, nanoseconds, ratio, ranked, median } from '../method/figures.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds, type PeerId } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const most = 1_000_000
/** Larger totals are not measured. */
const limitBytes = 2 ** 30

interface Found {
  readonly bytes: number
  readonly createNs: number
  readonly warmNs?: number
}

export async function tenants(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs: 0, expiresIn: 3600 })
  /** The shortest times of several rounds, and the median of their memory. */
  async function measure(id: PeerId, size: number, rounds: number): Promise<Found> {
    const found: Found[] = []
    for (let round = 0; round < rounds; round++) {
      const given = { id, tokenEndpoint: endpoint.url, tenants: size }
      // Code that is discarded meanwhile would count as memory that the tenants free.
      const flags = ['--expose-gc', '--max-old-space-size=8192', '--no-flush-bytecode']
      found.push(await runProcess<Found>('scenarios/tenants-process.ts', given, flags))
    }
    const least = (figure: (each: Found) => number): number => Math.min(...found.map(figure))
    return {
      bytes: median(found.map(({ bytes }) => bytes)),
      createNs: least(({ createNs }) => createNs),
      ...(found[0]?.warmNs !== undefined && { warmNs: least(({ warmNs }) => warmNs!) }),
    }
  }

  const entries: { name: string; one: Found; thousand: Found; million?: Found; value: number }[] = []
  for (const id of peerIds) {
    const { name, beside } = await loadPeer(id)
    // Our adapters have no separate clients.
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
    note: 'One client per tenant, each with its own credentials: ours in a pool, those of a peer in a map. Memory is the growth of the heap. A hundred of the tenants are in use; `warm` is the time to find the client of one of them and get its cached token.',
    tables: [
      {
        title: 'Memory',
        columns: ['peer', 'relative to ours', 'each of 1,000', 'each of 1,000,000', '1,000,000 in all'],
        rows: rows.map(({ name, value, million }) => [
          name,
          ratio(value / ours.value),
          bytes(value),
          million ? bytes(million.bytes / most) : '–',
          million ? bytes(million.bytes) : '–',
        ]),
        notes: [`– : a million would need more than ${bytes(limitBytes)}.`],
      },
      {
        title: 'Time',
        columns: [
          'peer',
          'creation, 1,000',
          'creation, 1,000,000',
          'warm, 1',
          'warm, 1,000',
          'warm, 1,000,000',
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
          `Twice as many tenants, ${count(most)} instead of ${count(most / 2)}, cost @tokenwell/core ${ratio(whole.bytes / half.bytes)} the memory, ${ratio((whole.createNs * 2) / half.createNs)} the creation time and ${ratio(whole.warmNs! / half.warmNs!)} the time for a cached token.`,
        ],
      },
    ],
    charts: [
      {
        name: 'tenants',
        title: 'Memory per tenant, with a thousand tenants',
        bars: rows.map(({ name: label, value }) => ({ label, value, text: bytes(value) })),
      },
    ],
    comparisons: [
      {
        what: 'the memory per tenant',
        entries: entries.map(({ name, value }) => ({ name, value })),
        because: 'They store less: no credentials besides the token, or no token at all',
      },
      {
        what: "the time to create a tenant's client",
        entries: entries.map(({ name, thousand }) => ({ name, value: thousand.createNs })),
        because:
          'Ours records the order of use, so that a full pool can evict the least recently used client',
      },
    ],
    overview: [
      {
        title: 'memory per tenant',
        cells: Object.fromEntries(entries.map(({ name, value }) => [name, ratio(value / ours.value)])),
        absent: 'uses the clients of @tokenwell/core',
      },
    ],
  }
}
