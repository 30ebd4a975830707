import { nanoseconds, ratio, ranked, median } from '../method/figures.ts'
import { roundRobin, runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const rounds = 5

interface Found {
  readonly getNs?: number
  readonly peekNs?: number
  readonly callNs?: number
  readonly plainNs?: number
}

interface Attachment {
  readonly name: string
  readonly httpClient: string
  readonly value: number
  readonly plainNs: number
}

export async function warmPath(): Promise<Result> {
  const endpoint = await startServer('token-endpoint', { latencyMs: 0, expiresIn: 3600 })
  const found = await roundRobin(peerIds, rounds, (id) =>
    runProcess<Found>('scenarios/warm-path-process.ts', { id, tokenEndpoint: endpoint.url }),
  )
  endpoint.stop()

  const gets: { name: string; value: number }[] = []
  const attachments: Attachment[] = []
  let peekNs = Infinity
  for (const [id, results] of found) {
    const { name, httpClient = '' } = await loadPeer(id)
    const value = fastest(results, 'getNs')
    if (value < Infinity) gets.push({ name, value })
    peekNs = Math.min(peekNs, fastest(results, 'peekNs'))
    // Within a process: the same call differs between processes by a third of what a token costs.
    const costs = results.flatMap(({ callNs, plainNs }) => (callNs && plainNs ? callNs - plainNs : []))
    const plainNs = fastest(results, 'plainNs')
    if (costs.length > 0) attachments.push({ name, httpClient, value: median(costs), plainNs })
  }
  const oursNs = gets[0]!.value
  const ownGet = (name: string): string =>
    ratio((gets.find((each) => each.name === name)?.value ?? 0) / oursNs)

  return {
    title: 'Warm path',
    note: `A fresh token is cached. The figure is the time of one call: the fastest of many short windows in ${rounds} rounds. Each peer runs in a separate process, in turn. The cost of attaching a token is the time of a request with it minus that of the same HTTP client without it, in the same process: the median of the rounds. The API responds inside the process.`,
    tables: [
      {
        title: 'Get a cached token',
        columns: ['peer', 'relative to ours', 'per call'],
        rows: ranked(gets).map(({ name, value }) => [name, ratio(value / oursNs), nanoseconds(value)]),
        notes: [
          `\`peekToken()\` of \`@tokenwell/core\`, which is not asynchronous: ${nanoseconds(peekNs)}.`,
          'openid-client and oauth4webapi cache no token; axios-auth-refresh and @azure/core-rest-pipeline return none.',
        ],
      },
      {
        title: 'Cost of attaching a token to a request',
        columns: ['peer', 'adds', 'relative to ours for the same client', 'the client without a token'],
        rows: ranked(attachments).map((entry) => [
          entry.name,
          nanoseconds(entry.value),
          relativeToOurs(entry, attachments),
          `${entry.httpClient}: ${nanoseconds(entry.plainNs)}`,
        ]),
        notes: [
          'simple-oauth2 attaches nothing.',
          'openid-client and oauth4webapi attach the token that is passed to them, valid or not.',
        ],
      },
    ],
    charts: [
      chart('get', 'Get a cached token', gets),
      chart('attach', 'Cost of attaching a token to a request', attachments),
    ],
    comparisons: [
      {
        what: 'getting a cached token',
        entries: gets,
        because:
          'Ours returns an object that does not show its token in logs; the program reads the value from it',
      },
      ...['fetch', 'axios'].map((client) => ({
        what: `attaching a token to a request of ${client}`,
        entries: attachments.filter(({ httpClient }) => httpClient === client),
        because: 'Ours checks the origin of the request, and can repeat the request after a rejection',
      })),
    ],
    overview: [
      {
        title: 'get',
        cells: Object.fromEntries(gets.map(({ name }) => [name, ownGet(name)])),
        absent: 'returns no cached token',
      },
      {
        title: 'attach',
        cells: Object.fromEntries(
          attachments.map((entry) => [entry.name, relativeToOurs(entry, attachments)]),
        ),
        absent: 'attaches nothing, or works with an HTTP client that we have no adapter for',
      },
    ],
  }
}

function fastest(results: readonly Found[], figure: keyof Found): number {
  return Math.min(...results.map((each) => each[figure] ?? Infinity))
}

/** Relative to our adapter for the same HTTP client, if there is one. */
function relativeToOurs({ httpClient, value }: Attachment, all: readonly Attachment[]): string {
  const ours = all.find((each) => each.name.startsWith('@tokenwell/') && each.httpClient === httpClient)
  return ours ? ratio(value / ours.value) : '–'
}

function chart(name: string, title: string, entries: { name: string; value: number }[]): Result['charts'][0] {
  const bars = ranked(entries).map(({ name: label, value }) => ({ label, value, text: nanoseconds(value) }))
  return { name, title, bars }
}
