import { nanoseconds, ratio } from '../method/figures.ts'
import { ranked } from '../method/contest.ts'
import { roundRobin } from '../method/round-robin.ts'
import { runProcess } from '../method/run-process.ts'
import { loadPeer, peerIds } from '../peers/peers.ts'
import { startServer } from '../servers/start-server.ts'
import type { Result } from '../result.ts'

const rounds = 3

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
    runProcess<Found>('works/warm-path-process.ts', { id, tokenUrl: endpoint.url }),
  )
  endpoint.stop()

  const gets: { name: string; value: number }[] = []
  const attachments: Attachment[] = []
  let peekNs = Infinity
  for (const [id, results] of found) {
    const { name, httpClient = '' } = await loadPeer(id)
    const value = quickest(results, 'getNs')
    if (value < Infinity) gets.push({ name, value })
    peekNs = Math.min(peekNs, quickest(results, 'peekNs'))
    const plainNs = quickest(results, 'plainNs')
    const callNs = quickest(results, 'callNs')
    if (callNs < Infinity) attachments.push({ name, httpClient, value: callNs - plainNs, plainNs })
  }
  const oursNs = gets[0]!.value
  const ownGet = (name: string): string =>
    ratio((gets.find((each) => each.name === name)?.value ?? 0) / oursNs)

  return {
    title: 'Warm path',
    note: `A token is at hand. The time of one call, each peer in a process of its own, in turn, ${rounds} rounds: the quickest of many short windows. What a token adds to a request is the time of one with it, less that of the same HTTP client without it, over an API that answers inside the process.`,
    tables: [
      {
        title: 'Get a token that is at hand',
        columns: ['peer', 'to ours', 'a call'],
        rows: ranked(gets).map(({ name, value }) => [name, ratio(value / oursNs), nanoseconds(value)]),
        notes: [
          `\`peekToken()\` of \`@tokenwell/core\`, which is not asynchronous: ${nanoseconds(peekNs)}.`,
          'openid-client and oauth4webapi keep no token; axios-auth-refresh and @azure/core-rest-pipeline hand none out.',
        ],
      },
      {
        title: 'What a token adds to a request',
        columns: ['peer', 'adds', 'to ours of the same client', 'the client alone'],
        rows: ranked(attachments).map((entry) => [
          entry.name,
          nanoseconds(entry.value),
          toOurs(entry, attachments),
          `${entry.httpClient}: ${nanoseconds(entry.plainNs)}`,
        ]),
        notes: [
          'simple-oauth2 attaches nothing.',
          'openid-client and oauth4webapi attach the token they are given, whether it still lives or not.',
        ],
      },
    ],
    charts: [
      chart('get', 'Get a token that is at hand', gets),
      chart('attach', 'What a token adds to a request', attachments),
    ],
    contests: [
      {
        what: 'getting a token that is at hand',
        entries: gets,
        because:
          'Ours reads two clocks, so that neither one set back nor a laptop that slept lets a dead token through, and hands out an object that shows its token to nobody who logs it',
      },
      ...['fetch', 'axios'].map((client) => ({
        what: `attaching it to a request of ${client}`,
        entries: attachments.filter(({ httpClient }) => httpClient === client),
        because: 'Ours looks at where the request goes, and is ready to send it once more after a refusal',
      })),
    ],
    overview: [
      {
        title: 'get',
        cells: Object.fromEntries(gets.map(({ name }) => [name, ownGet(name)])),
        absent: 'hands out no token that it keeps',
      },
      {
        title: 'attach',
        cells: Object.fromEntries(attachments.map(({ name, value }) => [name, `+ ${nanoseconds(value)}`])),
        absent: 'attaches nothing',
      },
    ],
  }
}

function quickest(results: readonly Found[], figure: keyof Found): number {
  return Math.min(...results.map((each) => each[figure] ?? Infinity))
}

/** To that of our adapter for the same HTTP client, if there is one. */
function toOurs({ httpClient, value }: Attachment, all: readonly Attachment[]): string {
  const ours = all.find((each) => each.name.startsWith('@tokenwell/') && each.httpClient === httpClient)
  return ours ? ratio(value / ours.value) : '–'
}

function chart(name: string, title: string, entries: { name: string; value: number }[]): Result['charts'][0] {
  const bars = ranked(entries).map(({ name: label, value }) => ({ label, value, text: nanoseconds(value) }))
  return { name, title, bars }
}
