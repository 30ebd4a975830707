import { count } from '../method/figures.ts'
import { ranked } from '../method/contest.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const seconds = 2
const revocations = 3
const latencyMs = 20

interface Found {
  readonly calls: number
  readonly failures: number
}

export async function revocation(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs, expiresIn: 3600 })
  const entries: (Found & { name: string; requests: number; value: number })[] = []
  for (const id of peerIds) {
    const peer = await loadPeer(id)
    const client = await peer.open({ tokenUrl: endpoint.url, clientId: 'id', clientSecret: 'secret' })
    if (client.askToken || !client.callApi) continue
    const before = (await endpoint.usage()).requests
    const given = { id, tokenUrl: endpoint.url, seconds, revocations }
    const found = await runProcess<Found>('works/revocation-process.ts', given)
    // The first one is everybody's.
    const requests = (await endpoint.usage()).requests - before - 1
    entries.push({
      name: peer.name,
      requests,
      ...found,
      // Who fails none comes first; then who asks for the fewest tokens.
      value: Math.sign(found.failures) * 1e6 + requests,
    })
  }
  endpoint.stop()

  // Some token requests more or fewer are chance.
  const rows = ranked(entries, { draw: 1 })
  return {
    title: 'Revocation under load',
    note: `About a thousand calls a second on one client for ${seconds} s, while the API withdraws the token ${revocations} times. It answers after up to 40 ms, so that refusals arrive while a new token is asked for, and after; a token request takes ${latencyMs} ms.`,
    tables: [
      {
        title: 'Calls that failed',
        columns: ['peer', 'failed', 'of', 'token requests'],
        rows: rows.map(({ name, failures, calls, requests }) => [
          name,
          count(failures),
          count(calls),
          count(requests),
        ]),
        notes: [
          `${revocations} token requests are what it takes.`,
          'simple-oauth2 has no client for an API; openid-client and oauth4webapi have one, and leave renewing the token to the application.',
          'axios-token-interceptor, @azure/core-rest-pipeline (but for challenges of its own platform) and the closure do nothing about a 401: their calls fail until the token expires.',
        ],
      },
    ],
    charts: [
      {
        name: 'revocation',
        title: 'Calls that failed while a token was withdrawn three times',
        bars: rows.map(({ name: label, failures, calls }) => ({
          label,
          value: failures / calls,
          text: `${count(failures)} of ${count(calls)}`,
        })),
      },
    ],
    contests: [],
    overview: [
      {
        title: 'failing after revocations',
        cells: Object.fromEntries(
          entries.map(({ name, failures, calls }) => [name, `${((failures / calls) * 100).toFixed(1)} %`]),
        ),
        absent: 'leaves the answer of the API to the application',
      },
    ],
  }
}
