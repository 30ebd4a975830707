import { count, milliseconds } from '../method/figures.ts'
import { ranked } from '../method/contest.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const lifeSeconds = 600
const speed = 300
const seconds = 5
const latencyMs = 50

interface Found {
  readonly calls: number
  readonly blocked: number
  readonly failures: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export async function renewal(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs, expiresIn: lifeSeconds })
  const entries: (Found & { name: string; requests: number; value: number })[] = []
  for (const id of peerIds) {
    const peer = await loadPeer(id)
    const client = await peer.open({ tokenUrl: endpoint.url, clientId: 'id', clientSecret: 'secret' })
    if (client.askToken) continue
    const before = (await endpoint.usage()).requests
    const given = { id, tokenUrl: endpoint.url, speed, seconds, lifeSeconds }
    const found = await runProcess<Found>('works/renewal-process.ts', given)
    const requests = (await endpoint.usage()).requests - before
    // Who keeps nobody waiting comes first; then who asks for the fewest tokens.
    const value = Math.sign(found.blocked + found.failures) * 1e6 + requests
    entries.push({ name: peer.name, requests, ...found, value })
  }
  endpoint.stop()

  const rows = ranked(entries)
  return {
    title: 'Renewal under load',
    note: `About a thousand calls a second on one client for ${seconds} s, while the clocks that it looks at run ${speed} times as fast: the ${lifeSeconds} s of a token's life pass in ${lifeSeconds / speed} s. A token request takes ${latencyMs} ms. The API answers at once, inside the process, and refuses what has expired; a call that is still open some turns of the event loop later is one that waits for a token.`,
    tables: [
      {
        title: 'Calls that waited for a renewal',
        columns: ['peer', 'calls that waited', 'failed', 'of', 'token requests', 'p50', 'p99', 'longest'],
        rows: rows.map((each) => [
          each.name,
          count(each.blocked),
          count(each.failures),
          count(each.calls),
          count(each.requests),
          milliseconds(each.p50Ms),
          milliseconds(each.p99Ms),
          milliseconds(each.maxMs),
        ]),
        notes: [
          'openid-client and oauth4webapi keep no token: there is nothing to renew. simple-oauth2 has no client for an API: its calls ask for the token alone.',
          '@azure/core-rest-pipeline renews two minutes ahead, whatever the life of a token: with one that lives for less it is always renewing.',
        ],
      },
    ],
    charts: [
      {
        name: 'renewal',
        title: 'Calls that waited for a renewal or failed',
        bars: rows.map(({ name: label, blocked, failures, calls }) => ({
          label,
          value: (blocked + failures) / calls,
          text: `${count(blocked + failures)} of ${count(calls)}`,
        })),
      },
    ],
    contests: [],
    overview: [
      {
        title: 'waiting at a renewal',
        cells: Object.fromEntries(
          entries.map(({ name, blocked, failures, calls }) => [
            name,
            `${(((blocked + failures) / calls) * 100).toFixed(1)} %`,
          ]),
        ),
        absent: 'keeps no token',
      },
    ],
  }
}
