import { count, milliseconds, ratio } from '../method/figures.ts'
import { ranked } from '../method/contest.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds, type PeerId } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const sizes = [1, 10, 100, 1_000, 10_000]
const latencyMs = 10
// Thousands of callers keep the collector busy, at one time more than at another.
const draw = 0.5

interface Rush {
  readonly requests: number
  readonly ms: number
  readonly failures: number
}

export async function stampede(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs, expiresIn: 3600 })
  const asked = async (): Promise<number> => (await endpoint.usage()).requests
  async function rush(id: PeerId, callers: number): Promise<Rush> {
    const before = await asked()
    const found = await runProcess<{ rounds: number; ms: number; failures: number }>(
      'works/stampede-process.ts',
      { id, tokenUrl: endpoint.url, callers },
    )
    // One was for warming up.
    return { ...found, requests: ((await asked()) - before - 1) / found.rounds }
  }

  const entries: { id: PeerId; name: string; rushes: Rush[] }[] = []
  for (const id of peerIds) entries.push({ id, name: (await loadPeer(id)).name, rushes: [] })
  for (const callers of sizes) for (const { id, rushes } of entries) rushes.push(await rush(id, callers))
  const once = await rush('tokenwell', 20_000)
  // Who shares a request is quick: a busy moment would tell more of the machine than of the peer.
  for (const { id, rushes } of entries) {
    const largest = rushes.at(-1)!
    if (largest.requests > 1) continue
    rushes[rushes.length - 1] = quicker(largest, await rush(id, sizes.at(-1)!))
  }
  const doubled = quicker(once, await rush('tokenwell', 20_000))
  endpoint.stop()

  const last = ({ rushes }: { rushes: Rush[] }): Rush => rushes.at(-1)!
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
    note: `Callers that all come at once while there is no token, over a token endpoint in a process of its own that takes ${latencyMs} ms to answer. The time is that until the last has its token: the quickest of several rounds.`,
    tables: [
      {
        title: 'Token requests',
        columns: ['peer', ...sizes.map(callersOf), 'calls that failed'],
        rows: byRequests.map(({ name, rushes }) => [
          name,
          ...rushes.map(({ requests }) => count(requests)),
          count(Math.max(...rushes.map(({ failures }) => failures))),
        ]),
        notes: [
          'openid-client and oauth4webapi keep no token: sharing one is left to the application. simple-oauth2 and google-auth-library keep one, and callers that find none ask each for themselves.',
          'Peers that hand out no token take part with requests to the API; those of axios-auth-refresh start without a token, and are renewed by a 401.',
        ],
      },
      {
        title: 'Time until the last caller has a token',
        columns: ['peer', `to ours at ${count(sizes.at(-1)!)}`, ...sizes.map(callersOf)],
        rows: byTime.map(({ name, rushes }) => [
          name,
          ratio(rushes.at(-1)!.ms / ours.ms),
          ...rushes.map(({ ms }) => milliseconds(ms)),
        ]),
        notes: [
          `Twice as many callers, 20,000, take @tokenwell/core ${milliseconds(doubled.ms)}: ${ratio(doubled.ms / ours.ms)} the time, ${count(doubled.requests)} token request.`,
        ],
      },
    ],
    charts: [
      {
        name: 'stampede',
        title: `Token requests for ${count(sizes.at(-1)!)} callers at once`,
        bars: byRequests.map((entry) => {
          const { requests } = last(entry)
          return { label: entry.name, value: requests, text: count(requests) }
        }),
      },
    ],
    contests: [
      {
        what: `the time until the last of ${count(sizes.at(-1)!)} callers has its token`,
        entries: entries
          .filter(({ name }) => name === entries[0]!.name || !name.startsWith('@tokenwell/'))
          .filter((entry) => last(entry).failures === 0)
          .map((entry) => ({ name: entry.name, value: last(entry).ms })),
        because: 'Each caller of ours has a time limit, and can leave, on its own',
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

/** The time of the quicker one, with the most that was asked for and that failed. */
function quicker(one: Rush, other: Rush): Rush {
  return {
    ms: Math.min(one.ms, other.ms),
    requests: Math.max(one.requests, other.requests),
    failures: Math.max(one.failures, other.failures),
  }
}

function callersOf(size: number): string {
  return size === 1 ? '1 caller' : `${count(size)} callers`
}
