import { count, milliseconds, ratio, ranked } from '../method/figures.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds, type PeerId } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const sizes = [1, 10, 100, 1_000, 10_000]
const latencyMs = 10
// Thousands of callers keep the garbage collector busy, to varying degrees.
const draw = 0.5

interface Stampede {
  readonly requests: number
  readonly ms: number
  readonly failures: number
  /** As many calls of the same HTTP client without a token; null if the peer is not measured with API requests. */
  readonly plainMs: number | null
}

export async function stampede(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs, expiresIn: 3600 })
  const asked = async (): Promise<number> => (await endpoint.usage()).requests
  async function runOnce(id: PeerId, callers: number): Promise<Stampede> {
    const before = await asked()
    const found = await runProcess<Omit<Stampede, 'requests'> & { readonly rounds: number }>(
      'scenarios/stampede-process.ts',
      { id, tokenEndpoint: endpoint.url, callers },
    )
    // One was for warm-up.
    return { ...found, requests: ((await asked()) - before - 1) / found.rounds }
  }

  const entries: { id: PeerId; name: string; runs: Stampede[] }[] = []
  for (const id of peerIds) entries.push({ id, name: (await loadPeer(id)).name, runs: [] })
  for (const callers of sizes) for (const { id, runs } of entries) runs.push(await runOnce(id, callers))
  const once = await runOnce('tokenwell', 20_000)
  // Peers that share a request are fast: a busy moment would say more about the machine than the peer.
  for (const { id, runs } of entries) {
    const largest = runs.at(-1)!
    if (largest.requests > 1) continue
    runs[runs.length - 1] = faster(largest, await runOnce(id, sizes.at(-1)!))
  }
  const doubled = faster(once, await runOnce('tokenwell', 20_000))
  endpoint.stop()

  const last = ({ runs }: { runs: Stampede[] }): Stampede => runs.at(-1)!
  const ours = last(entries[0]!)
  const byRequests = ranked(
    entries.map((each) => ({ ...each, value: last(each).requests + last(each).failures })),
  )
  const byTime = ranked(
    entries.map((each) => ({ ...each, value: last(each).ms })),
    { draw },
  )
  return {
    title: 'Stampede',
    note: `Concurrent callers without a cached token. The token endpoint runs in a separate process and takes ${latencyMs} ms to respond. The figure is the time until the last caller has its token: the fastest of several rounds.`,
    tables: [
      {
        title: 'Token requests',
        columns: ['peer', ...sizes.map(callersOf), 'failed calls'],
        rows: byRequests.map(({ name, runs }) => [
          name,
          ...runs.map(({ requests }) => count(requests)),
          count(Math.max(...runs.map(({ failures }) => failures))),
        ]),
        notes: [
          'openid-client, oauth4webapi and simple-oauth2 cache no token: sharing one is up to the application. google-auth-library caches one, but concurrent callers without a token each request one.',
          'Peers that return no token are measured with API requests; those of axios-auth-refresh start without a token and get one after a 401.',
        ],
      },
      {
        title: 'Time until the last caller has a token',
        columns: [
          'peer',
          `relative to ours at ${count(sizes.at(-1)!)}`,
          `relative to ${count(sizes.at(-1)!)} calls of the client without a token`,
          ...sizes.map(callersOf),
        ],
        rows: byTime.map(({ name, runs }) => [
          name,
          ratio(runs.at(-1)!.ms / ours.ms),
          relativeToPlain(runs.at(-1)!),
          ...runs.map(({ ms }) => milliseconds(ms)),
        ]),
        notes: [
          'Peers that attach tokens are measured with API requests of their HTTP client, the others with calls that return the token.',
          `Twice as many callers, 20,000, cost @tokenwell/core ${milliseconds(doubled.ms)}: ${ratio(doubled.ms / ours.ms)} the time, ${count(doubled.requests)} token request.`,
        ],
      },
    ],
    charts: [
      {
        name: 'stampede',
        title: `Token requests for ${count(sizes.at(-1)!)} concurrent callers`,
        bars: byRequests.map((entry) => {
          const { requests } = last(entry)
          return { label: entry.name, value: requests, text: count(requests) }
        }),
      },
    ],
    comparisons: [
      {
        what: `the time until the last of ${count(sizes.at(-1)!)} callers has its token`,
        entries: entries
          .filter(({ name }) => name === entries[0]!.name || !name.startsWith('@tokenwell/'))
          .filter((entry) => last(entry).failures === 0)
          .map((entry) => ({ name: entry.name, value: last(entry).ms })),
        because: 'With ours, each caller has its own time limit and can abort on its own',
      },
    ],
    overview: [
      {
        title: 'token requests, 10,000 callers',
        cells: Object.fromEntries(entries.map((entry) => [entry.name, count(last(entry).requests)])),
      },
    ],
  }
}

function relativeToPlain({ ms, plainMs }: Stampede): string {
  return plainMs === null ? '–' : ratio(ms / plainMs)
}

/** The shorter time, with the higher counts of requests and failures. */
function faster(one: Stampede, other: Stampede): Stampede {
  return {
    ms: Math.min(one.ms, other.ms),
    requests: Math.max(one.requests, other.requests),
    failures: Math.max(one.failures, other.failures),
    plainMs: one.plainMs === null || other.plainMs === null ? null : Math.min(one.plainMs, other.plainMs),
  }
}

function callersOf(size: number): string {
  return size === 1 ? '1 caller' : `${count(size)} callers`
}
