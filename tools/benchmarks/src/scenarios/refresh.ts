import { count, milliseconds, ranked } from '../method/figures.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const lifetimeSeconds = 400
const speed = 200
const seconds = 5
// 4 s by the fast clocks: well within the time limits of every peer.
const latencyMs = 20

interface Found {
  readonly calls: number
  readonly blocked: number
  readonly failures: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

export async function refresh(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs, expiresIn: lifetimeSeconds })
  const entries: (Found & { name: string; requests: number; value: number })[] = []
  for (const id of peerIds) {
    const peer = await loadPeer(id)
    const client = await peer.open({ tokenEndpoint: endpoint.url, clientId: 'id', clientSecret: 'secret' })
    if (client.requestToken) continue
    const before = (await endpoint.usage()).requests
    const given = { id, tokenEndpoint: endpoint.url, speed, seconds, lifetimeSeconds }
    const found = await runProcess<Found>('scenarios/refresh-process.ts', given)
    const requests = (await endpoint.usage()).requests - before
    // Those without waiting calls come first, then those with the fewest token requests.
    const value = Math.sign(found.blocked + found.failures) * 1e6 + requests
    entries.push({ name: peer.name, requests, ...found, value })
  }
  endpoint.stop()

  const rows = ranked(entries)
  return {
    title: 'Refresh under load',
    note: `About a thousand calls a second on one client for ${seconds} s, while its clocks run ${speed} times as fast, so that the ${lifetimeSeconds} s of a token's lifetime pass in ${lifetimeSeconds / speed} s. A token request takes ${latencyMs} ms. The API responds immediately, inside the process, and rejects expired tokens; a call that is still pending some turns of the event loop later counts as waiting for a token.`,
    tables: [
      {
        title: 'Calls that waited for a refresh',
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
          'openid-client and oauth4webapi cache no token, so there is nothing to refresh. simple-oauth2 has no API client: its calls only get the token.',
          '@azure/core-rest-pipeline refreshes two minutes before expiry, regardless of the lifetime: with a shorter lifetime it refreshes all the time.',
        ],
      },
    ],
    charts: [
      {
        name: 'refresh',
        title: 'Calls that waited for a refresh or failed',
        bars: rows.map(({ name: label, blocked, failures, calls }) => ({
          label,
          value: (blocked + failures) / calls,
          text: `${count(blocked + failures)} of ${count(calls)}`,
        })),
      },
    ],
    comparisons: [],
    overview: [
      {
        title: 'waiting for a refresh',
        cells: Object.fromEntries(
          entries.map(({ name, blocked, failures, calls }) => [
            name,
            `${(((blocked + failures) / calls) * 100).toFixed(1)} %`,
          ]),
        ),
        absent: 'caches no token',
      },
    ],
  }
}
