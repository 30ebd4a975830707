import { subscribe } from 'node:diagnostics_channel'
import { openAsBlob } from 'node:fs'
import { readFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { fileURLToPath } from 'node:url'
import { styleText } from 'node:util'
import { clientCredentials, credentialsFrom } from '@tokenwell/core'
import { startLocalPlatform } from '../platform/local-platform.ts'
import { plural, printError } from './run-transcribe.ts'

type Transcribe = (recording: Blob, fields: Record<string, string>) => Promise<{ text?: string }>

/** A client as the demo uses it; the clients themselves have nothing in common. */
interface Client {
  transcribe: Transcribe
  messageOf?: (error: unknown) => string
  close(): Promise<void>
}

const clients: Record<string, (speechUrl: string) => Promise<Client>> = {
  async fetch(speechUrl) {
    const { createSpeechClient } = await import('../fetch/speech.ts')
    const tokens = createTokens()
    return { ...createSpeechClient(speechUrl, tokens), close: () => tokens.close() }
  },
  async axios(speechUrl) {
    const { createSpeechApi, messageOf, transcribe } = await import('../axios/speech.ts')
    const tokens = createTokens()
    const api = createSpeechApi(speechUrl, tokens)
    return {
      transcribe: (recording, fields) => transcribe(api, recording, fields),
      messageOf,
      close: () => tokens.close(),
    }
  },
  async ky(speechUrl) {
    const { createSpeechClient, messageOf } = await import('../ky/speech.ts')
    const tokens = createTokens()
    return { ...createSpeechClient(speechUrl, tokens), messageOf, close: () => tokens.close() }
  },
  /** Starts the NestJS application, and sends it recordings. */
  async nest() {
    await import('reflect-metadata')
    const { NestFactory } = await import('@nestjs/core')
    const { AppModule } = await import('../nest/app.module.ts')
    const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] })
    await app.listen(0, '127.0.0.1')
    const url = `${await app.getUrl()}/transcriptions`
    return {
      async transcribe(recording, fields) {
        const body = new FormData()
        for (const [name, value] of Object.entries(fields)) body.set(name, value)
        body.set('file', recording)
        const response = await fetch(url, { method: 'POST', body })
        const data = await response.json()
        if (!response.ok) throw new Error(data.error?.message ?? data.message)
        return data
      },
      close: () => app.close(),
    }
  },
}

function createTokens() {
  return clientCredentials(credentialsFrom(process.env))
}

interface Sample {
  readonly file: string
  readonly fields: Record<string, string>
  readonly text: string
}

const folder = fileURLToPath(new URL('../../samples', import.meta.url))
const note =
  'Each client requests its token with its first call. The very first calls also wait for the speech recognition to start.'

/** Transcribes three samples with every client, and returns the exit code. */
export async function runDemo(): Promise<number> {
  const all = JSON.parse(await readFile(`${folder}/samples.json`, 'utf8')) as Sample[]
  const samples = all.filter(({ fields }) => ['digits', 'numbers', 'phrases'].includes(fields['expected']!))
  const received = countRequests()
  const platform = await startLocalPlatform()
  for (const name of ['TOKEN_ENDPOINT', 'ISSUER']) delete process.env[name]
  Object.assign(process.env, platform.environment) // from where the NestJS application reads its settings
  const lines: { readonly file: string; readonly line: string }[] = []
  const summary: string[] = []
  let failures = 0
  for (const [name, create] of Object.entries(clients)) {
    const before = { ...received }
    const client = await create(platform.environment['SPEECH_URL']!)
    await Promise.all(
      samples.map(async ({ file, fields, text }) => {
        const started = performance.now()
        const shown = await openAsBlob(`${folder}/${file}`)
          .then((recording) => client.transcribe(recording, fields))
          .catch((error: unknown) => ({ text: client.messageOf?.(error) ?? String(error) }))
        const milliseconds = String(Math.round(performance.now() - started)).padStart(5)
        const isRight = shown.text === text
        if (!isRight) failures++
        const result = isRight
          ? `${coloured('green', '✓')} ${text}`
          : coloured('red', `✗ ${shown.text}, not ${text}`)
        lines.push({ file, line: `${file.padEnd(17)}  ${name.padEnd(5)}  ${milliseconds} ms  ${result}` })
      }),
    )
    await client.close()
    const tokenRequests = received.tokens - before.tokens
    summary.push(
      `${name}: ${plural(tokenRequests, 'token request')} for ${plural(received.calls - before.calls, 'API call')}`,
    )
  }
  await platform.close()
  // Grouped by file, to compare the clients.
  const grouped = samples.flatMap(({ file }) => lines.filter((each) => each.file === file))
  process.stdout.write(`${[...grouped.map(({ line }) => line), ...summary, note].join('\n')}\n`)
  if (failures > 0) printError(`${plural(failures, 'transcript')} of ${lines.length} failed.`)
  return failures > 0 ? 1 : 0
}

function coloured(colour: 'green' | 'red', text: string): string {
  return styleText(colour, text, { stream: process.stdout })
}

/** Counts the requests that the servers of this process receive, so what the clients have really sent. */
function countRequests(): { tokens: number; calls: number } {
  const received = { tokens: 0, calls: 0 }
  subscribe('http.server.request.start', (message) => {
    const { method, url = '' } = (message as { readonly request: IncomingMessage }).request
    if (method !== 'POST') return
    if (url.startsWith('/oauth/client_credential/accesstoken')) received.tokens++
    if (url === '/v1/transcriptions') received.calls++
  })
  return received
}
