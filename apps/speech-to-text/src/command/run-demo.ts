import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import Table from 'cli-table3'
import { clientNames, createSpeechClient, type ClientName } from '../clients/create-speech-client.ts'
import type { Connection } from '../clients/speech-client.ts'
import { startLocalPlatform } from '../platform/start-local-platform.ts'
import { countRequests, type RequestCount } from './count-requests.ts'
import { describeFailure } from './describe-failure.ts'
import { findRecordings, type Recording } from './find-recordings.ts'
import { complain, count } from './results.ts'

const { stdout } = process
const samples = fileURLToPath(new URL('../../samples', import.meta.url))

interface Heard {
  readonly file: string
  readonly text: string
  readonly milliseconds: number
}

interface Row extends Heard {
  readonly client: ClientName
  readonly right: boolean
}

/** Transcribes the samples through every client and answers with the exit code. */
export async function runDemo(): Promise<number> {
  const expected = JSON.parse(await readFile(`${samples}/expected.json`, 'utf8')) as Record<string, string>
  const recordings = await findRecordings(Object.keys(expected), samples)
  const requests = countRequests()
  const platform = await startLocalPlatform()
  const table = new Table({
    head: ['file', 'client', 'text', 'ms'],
    colAligns: ['left', 'left', 'left', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  })
  const rows: Row[] = []
  const summary: string[] = []
  let faults = 0
  for (const client of clientNames) {
    const before = new Map(requests.arrived)
    try {
      const transcribed = await transcribeThrough(client, platform, recordings)
      rows.push(...transcribed.map((row) => ({ client, right: row.text === expected[row.file], ...row })))
    } catch (error) {
      faults++
      complain(`${client}: ${describeFailure(error, platform) ?? String(error)}`)
    }
    summary.push(`${client}: ${requestsSince(before, requests)}`)
  }
  // Side by side: what the clients made of the same recording.
  for (const file of Object.keys(expected)) {
    for (const { client, right, text, milliseconds } of rows.filter((row) => row.file === file)) {
      if (!right) faults++
      const shown = right ? text : mark(`${text} (not: ${expected[file]})`)
      table.push([file, client, shown, Math.round(milliseconds)])
    }
  }
  await platform.close()
  requests.stop()
  stdout.write(`${table.toString()}\n${summary.join('\n')}\n`)
  if (faults > 0) complain(`${count(faults, 'part')} of the demo went wrong.`)
  return faults > 0 ? 1 : 0
}

async function transcribeThrough(
  name: ClientName,
  connection: Connection,
  recordings: readonly Recording[],
): Promise<Heard[]> {
  const client = await createSpeechClient(name, connection)
  try {
    const transcribe = async (recording: Recording): Promise<Heard> => {
      const audio = await recording.open()
      const started = performance.now()
      const { text } = await client.transcribe(audio)
      return { file: recording.name, text, milliseconds: performance.now() - started }
    }
    return await Promise.all(recordings.map(transcribe))
  } finally {
    await client.close()
  }
}

function requestsSince(before: ReadonlyMap<string, number>, { arrived }: RequestCount): string {
  const since = (request: string) => (arrived.get(request) ?? 0) - (before.get(request) ?? 0)
  const tokenRequests = since('POST /oauth/client_credential/accesstoken')
  return `${count(tokenRequests, 'token request')} for ${count(since('POST /v1/transcriptions'), 'API call')}`
}

function mark(text: string): string {
  return styleText('red', text, { stream: stdout })
}
