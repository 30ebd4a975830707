import { count, ranked } from '../method/figures.ts'
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
    const client = await peer.open({ tokenEndpoint: endpoint.url, clientId: 'id', clientSecret: 'secret' })
    if (client.requestToken || !client.callApi) continue
    const before = (await endpoint.usage()).requests
    const given = { id, tokenEndpoint: endpoint.url, seconds, revocations }
    const found = await runProcess<Found>('scenarios/revocation-process.ts', given)
    // Every peer sends the first one.
    const requests = (await endpoint.usage()).requests - before - 1
    entries.push({
      name: peer.name,
      requests,
      ...found,
      // Those without failed calls come first, then those with the fewest token requests.
      value: Math.sign(found.failures) * 1e6 + requests,
    })
  }
  endpoint.stop()

  // A few token requests more or less are chance.
  const rows = ranked(entries, { draw: 1 })
  return {
    title: 'Revocation under load',
    note: `About a thousand calls a second on one client for ${seconds} s, while the API revokes the token ${revocations} times. The API responds after up to 40 ms, so that rejections arrive during and after the request for a new token; a token request takes ${latencyMs} ms.`,
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
          `${revocations} token requests are the minimum.`,
          'simple-oauth2 has no API client; openid-client and oauth4webapi have one and leave refreshing the token to the application.',
          'axios-token-interceptor, @azure/core-rest-pipeline (except for challenges of its own platform) and the closure do not handle a 401: their calls fail until the token expires.',
        ],
      },
    ],
    charts: [
      {
        name: 'revocation',
        title: 'Calls that failed while the token was revoked three times',
        bars: rows.map(({ name: label, failures, calls }) => ({
          label,
          value: failures / calls,
          text: `${count(failures)} of ${count(calls)}`,
        })),
      },
    ],
    comparisons: [],
    overview: [
      {
        title: 'failing after revocations',
        cells: Object.fromEntries(
          entries.map(({ name, failures, calls }) => [name, `${((failures / calls) * 100).toFixed(1)} %`]),
        ),
        absent: "leaves the API's response to the application",
      },
    ],
  }
}
