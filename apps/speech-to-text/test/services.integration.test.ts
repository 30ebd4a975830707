import type { ChildProcess } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { clientNames } from '../src/clients/create-speech-client.ts'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { application, end, spawnSpeech, startSpeech, startTokens } from './platform.ts'
import { runCommand } from './run-command.ts'
import { samples, samplesFolder } from './samples.ts'

const files = Object.keys(samples)
const [file, text] = Object.entries(samples)[0]!
const { clientId, clientSecret: secret } = application

let AUTH_URL: string
let SPEECH_URL: string
const services: { close(): Promise<void> }[] = []
beforeAll(async () => {
  const tokens = await startTokens()
  const speech = await startSpeech(tokens.authUrl)
  services.push(speech, tokens)
  AUTH_URL = tokens.authUrl
  SPEECH_URL = speech.url
})
afterAll(async () => {
  for (const service of services) await service.close()
})

const cleanUp: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of cleanUp.splice(0).toReversed()) await close()
})

async function listen(listener: RequestListener): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** An address where nobody listens. */
async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}

function transcribe(env: Record<string, string>, ...args: string[]) {
  return runCommand('transcribe', [file, ...args], { cwd: samplesFolder, env })
}

test('services that are there already are used, with either name for the credentials', async () => {
  for (const credentials of [
    { CLIENT_ID: clientId, CLIENT_SECRET: secret },
    { CONSUMER_KEY: clientId, CONSUMER_SECRET: secret },
  ]) {
    const { code, stdout } = await transcribe({ AUTH_URL, SPEECH_URL, ...credentials })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${file}: ${text}\n` })
  }
})

test('a wrong secret: one sentence that names the client ID, and never the secret', async () => {
  const CLIENT_SECRET = 'wrong-and-yet-a-secret'
  const runs = clientNames.map((client) =>
    runCommand('transcribe', [...files, '--client', client], {
      cwd: samplesFolder,
      env: { AUTH_URL, SPEECH_URL, CLIENT_ID: clientId, CLIENT_SECRET },
    }),
  )
  for (const { code, stdout, stderr } of await Promise.all(runs)) {
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `The token service at ${AUTH_URL} refused the client ID ${clientId}: check it and its secret.\n`,
    })
  }
})

test('an application without the product: the sentence of the speech API', async () => {
  const tokens = await startTokens({ products: ['something else'] })
  cleanUp.push(() => tokens.close())
  const AUTH_URL = tokens.authUrl
  const speech = await startSpeech(AUTH_URL)
  cleanUp.push(() => speech.close())
  const SPEECH_URL = speech.url
  const { code, stderr } = await transcribe({
    AUTH_URL,
    SPEECH_URL,
    CLIENT_ID: clientId,
    CLIENT_SECRET: secret,
  })
  expect(code).toBe(1)
  expect(stderr).toMatch(
    new RegExp(`^The speech API at ${SPEECH_URL} answered with an error \\(status 403\\): .+\n$`),
  )
})

test('no token service: says which address, after trying again', async () => {
  const AUTH_URL = await deadUrl()
  const { code, stderr } = await transcribe(
    { AUTH_URL, SPEECH_URL: AUTH_URL, CLIENT_ID: clientId, CLIENT_SECRET: secret },
    '--retries=1',
  )
  const sentence = `The token service at ${AUTH_URL} does not answer.`
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${sentence} Trying again.\n${sentence}\n` })
})

test('no speech API: every client says which address, after trying again', async () => {
  const SPEECH_URL = await deadUrl()
  const runs = clientNames.map((client) =>
    transcribe(
      { AUTH_URL, SPEECH_URL, CLIENT_ID: clientId, CLIENT_SECRET: secret },
      '--retries=1',
      '--client',
      client,
    ),
  )
  const sentence = `The speech API at ${SPEECH_URL} could not be reached (ECONNREFUSED).`
  for (const { code, stderr } of await Promise.all(runs)) {
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${sentence} Trying again.\n${sentence}\n` })
  }
})

test('a speech API that breaks off, is busy and then restarts loses nothing', async () => {
  let calls = 0
  const flaky = await listen((request, response) => {
    calls++
    if (calls === 1) return void request.socket.destroy()
    if (calls === 2) {
      request.resume()
      response.writeHead(503, { 'retry-after': '1', 'content-type': 'application/json' })
      return void response.end(JSON.stringify({ error: { code: 'busy', message: 'Too many at once.' } }))
    }
    const { authorization, 'content-type': type } = request.headers
    const body = new ReadableStream({
      async start(controller) {
        for await (const chunk of request) controller.enqueue(chunk)
        controller.close()
      },
    })
    void fetch(`${SPEECH_URL}${request.url}`, {
      method: 'POST',
      headers: { authorization: authorization!, 'content-type': type! },
      body,
      duplex: 'half',
    } as RequestInit).then(async (answer) => {
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      response.end(await answer.text())
    })
  })
  cleanUp.push(flaky.close)
  const { code, stdout, stderr } = await transcribe({
    AUTH_URL,
    SPEECH_URL: flaky.url,
    CLIENT_ID: clientId,
    CLIENT_SECRET: secret,
  })
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${file}: ${text}\n` })
  expect(stderr).toContain('could not be reached')
  expect(stderr).toContain('Too many at once. Trying again.')
  expect(calls).toBe(3)
})

test('a speech API that is killed and restarted in the middle: the command line finishes', async () => {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'killed-'))
  cleanUp.push(() => rm(folder, { recursive: true }))
  const names = Array.from({ length: 20 }, (_, index) => `${index}.wav`)
  for (const name of names) await copyFile(join(samplesFolder, file), join(folder, name))
  const first = await spawnSpeech(AUTH_URL, port)
  let restarting: Promise<ChildProcess> | undefined
  const onOutput = () => {
    restarting = end(first, 'SIGKILL').then(() => spawnSpeech(AUTH_URL, port))
  }
  // More often than by default: how long a server takes to start is the machine's affair.
  const { code, stdout } = await runCommand('transcribe', [...names, '--retries=10'], {
    cwd: folder,
    onOutput,
    env: { AUTH_URL, SPEECH_URL: `http://127.0.0.1:${port}`, CLIENT_ID: clientId, CLIENT_SECRET: secret },
  })
  await end((await restarting)!)
  expect({ code, stdout }).toEqual({ code: 0, stdout: names.map((name) => `${name}: ${text}\n`).join('') })
})

test('a missing setting is named', async () => {
  const { code, stdout, stderr } = await transcribe({ AUTH_URL: 'https://auth.example.com' })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^SPEECH_URL is missing: .*\.\n$/)
})
