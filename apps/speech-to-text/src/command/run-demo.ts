import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import Table from 'cli-table3'
import { type ClientName, clientNames, createSpeechClient } from '../clients/create-speech-client.ts'
import type { SpeechClient } from '../clients/speech-client.ts'
import { type Connection, environmentOf } from '../platform/connection.ts'
import { describeError } from '../platform/describe-error.ts'
import { startLocalPlatform } from '../platform/start-local-platform.ts'
import { type Sample, samplesSchema } from '../speech/sample.ts'
import { plural, printError } from './progress.ts'

const { stdout } = process
const folder = fileURLToPath(new URL('../../samples', import.meta.url))
const note = `Each client requests its token with its first call. The very first calls also wait for the speech recognition to start.`

interface Row {
  readonly file: string
  readonly client: string
  readonly text: string
  readonly milliseconds: number
}

/** One sample each of digits, a number and a sentence. */
async function readSamples(): Promise<Sample[]> {
  const samples = samplesSchema.parse(JSON.parse(await readFile(`${folder}/samples.json`, 'utf8')))
  return samples.filter(({ expected }) => ['digits', 'numbers', 'phrases'].includes(expected.grammar))
}

/** Transcribes the samples with every client and returns the exit code. */
export async function runDemo(): Promise<number> {
  const samples = await readSamples()
  const requests = countRequests()
  const platform = await startLocalPlatform()
  for (const name of ['TOKEN_ENDPOINT', 'ISSUER', 'PAGE_TOKEN_ENDPOINT', 'PAGE_ISSUER'])
    delete process.env[name]
  Object.assign(process.env, environmentOf(platform)) // from where the NestJS application reads its settings
  const table = new Table({
    head: ['file', 'client', 'text', 'ms'],
    colAligns: ['left', 'left', 'left', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  })
  const rows: Row[] = []
  const summary: string[] = []
  let failures = 0
  for (const client of [...clientNames, 'nest'] as const) {
    const before = new Map(requests.received)
    try {
      rows.push(...(await transcribeWith(client, platform, samples)))
    } catch (error) {
      failures++
      printError(`${client}: ${describeError(error, platform) ?? String(error)}`)
    }
    summary.push(`${client}: ${requestsSince(before, requests)}`)
  }
  // Grouped by file, to compare the clients.
  for (const { file, text: expected } of samples) {
    for (const { client, text, milliseconds } of rows.filter((row) => row.file === file)) {
      const correct = text === expected
      if (!correct) failures++
      const shown = correct
        ? `${coloured('green', '✓')} ${text}`
        : coloured('red', `✗ ${text} (expected: ${expected})`)
      table.push([file, client, shown, Math.round(milliseconds)])
    }
  }
  await platform.close()
  requests.stop()
  stdout.write(`${table.toString()}\n${summary.join('\n')}\n${note}\n`)
  if (failures > 0) printError(`${plural(failures, 'part')} of the demo failed.`)
  return failures > 0 ? 1 : 0
}

async function transcribeWith(
  name: ClientName | 'nest',
  connection: Connection,
  samples: readonly Sample[],
): Promise<Row[]> {
  const client = await (name === 'nest' ? startNest() : createSpeechClient(name, connection))
  try {
    const transcribe = async ({ file, expected }: Sample): Promise<Row> => {
      const audio = await openAsBlob(`${folder}/${file}`)
      const started = performance.now()
      const { text } = await client.transcribe(audio, { expected })
      return { file, client: name, text, milliseconds: performance.now() - started }
    }
    return await Promise.all(samples.map(transcribe))
  } finally {
    await client.close()
  }
}

/** The NestJS application takes longest to load, so not before it is used. */
async function startNest(): Promise<SpeechClient> {
  const { startNestClient } = await import('../clients/nest-client.ts')
  return startNestClient()
}

function requestsSince(before: ReadonlyMap<string, number>, { received }: RequestCount): string {
  const since = (request: string) => (received.get(request) ?? 0) - (before.get(request) ?? 0)
  const tokenRequests = since('POST /oauth/client_credential/accesstoken')
  return `${plural(tokenRequests, 'token request')} for ${plural(since('POST /v1/transcriptions'), 'API call')}`
}

function coloured(colour: 'green' | 'red', text: string): string {
  return styleText(colour, text, { stream: stdout })
}

/** The number of received requests, by `METHOD /path`. */
export interface RequestCount {
  readonly received: ReadonlyMap<string, number>
  stop(): void
}

/** Counts the requests that the servers of this process receive, so what the clients have really sent. */
export function countRequests(): RequestCount {
  const received = new Map<string, number>()
  const channel = 'http.server.request.start'
  const count = (message: unknown) => {
    const { method, url } = (message as { readonly request: IncomingMessage }).request
    const request = `${method} ${url?.replace(/\?.*/, '')}`
    received.set(request, (received.get(request) ?? 0) + 1)
  }
  subscribe(channel, count)
  return { received, stop: () => void unsubscribe(channel, count) }
}
