import type { ChildProcess } from 'node:child_process'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { clientNames } from '../src/clients/create-speech-client.ts'
import {
  application,
  stop,
  spawnSpeech,
  startSpeech,
  startTokens,
  runCommand,
  sampleOf,
  samplesFolder,
} from './platform.ts'

const { file, text } = sampleOf('digits')
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

/** A URL without a server. */
async function deadUrl(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}`
}

function transcribe(env: Record<string, string>, ...args: string[]) {
  return runCommand('transcribe', [file, ...args], { cwd: samplesFolder, env })
}

test('uses existing services, with both names of the credentials', async () => {
  for (const credentials of [
    { CLIENT_ID: clientId, CLIENT_SECRET: secret },
    { CONSUMER_KEY: clientId, CONSUMER_SECRET: secret },
  ]) {
    const { code, stdout } = await transcribe({ AUTH_URL, SPEECH_URL, ...credentials })
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${file}: ${text}\n` })
  }
})

test('names the client ID but not the secret when the secret is invalid', async () => {
  const CLIENT_SECRET = 'wrong-and-yet-a-secret'
  const runs = clientNames.map((client) =>
    runCommand('transcribe', [file, '--client', client], {
      cwd: samplesFolder,
      env: { AUTH_URL, SPEECH_URL, CLIENT_ID: clientId, CLIENT_SECRET },
    }),
  )
  for (const { code, stdout, stderr } of await Promise.all(runs)) {
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: '',
      stderr: `The token service at ${AUTH_URL} rejected the client ID ${clientId}. Check the client ID and secret.\n`,
    })
  }
})

test('prints the error of the speech API when the application lacks the product', async () => {
  const tokens = await startTokens(['something else'])
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
    new RegExp(`^The speech API at ${SPEECH_URL} returned an error \\(status 403\\): .+\n$`),
  )
})

test('names the URL of an unreachable token service after the retries', async () => {
  const AUTH_URL = await deadUrl()
  const { code, stderr } = await transcribe(
    { AUTH_URL, SPEECH_URL: AUTH_URL, CLIENT_ID: clientId, CLIENT_SECRET: secret },
    '--retries=1',
  )
  const sentence = `The token service at ${AUTH_URL} could not be reached.`
  expect({ code, stderr }).toEqual({ code: 1, stderr: `${sentence} Retrying.\n${sentence}\n` })
})

test('names the URL of an unreachable speech API after the retries, with every client', async () => {
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
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${sentence} Retrying.\n${sentence}\n` })
  }
})

test('retries after a broken connection and a busy speech API', async () => {
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
    } as RequestInit).then(async (upstream) => {
      response.writeHead(upstream.status, { 'content-type': 'application/json' })
      response.end(await upstream.text())
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
  expect(stderr).toContain('Too many at once. Retrying.')
  expect(calls).toBe(3)
})

test('completes all recordings when the speech API is killed and restarted', async () => {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'killed-'))
  cleanUp.push(() => rm(folder, { recursive: true }))
  const names = Array.from({ length: 6 }, (_, index) => `${index}.wav`)
  for (const name of names) await copyFile(join(samplesFolder, file), join(folder, name))
  const first = await spawnSpeech(AUTH_URL, port)
  let restarting: Promise<ChildProcess> | undefined
  const onOutput = () => {
    restarting = stop(first, 'SIGKILL').then(() => spawnSpeech(AUTH_URL, port))
  }
  // More retries than by default: the server may take longer to start on a busy machine.
  const { code, stdout } = await runCommand('transcribe', [...names, '--retries=10'], {
    cwd: folder,
    onOutput,
    env: { AUTH_URL, SPEECH_URL: `http://127.0.0.1:${port}`, CLIENT_ID: clientId, CLIENT_SECRET: secret },
  })
  await stop((await restarting)!)
  expect({ code, stdout }).toEqual({ code: 0, stdout: names.map((name) => `${name}: ${text}\n`).join('') })
})

test.each([
  ['URL', { CLIENT_ID: 'id', CLIENT_SECRET: 'secret' }, /^SPEECH_URL is missing\. .*\.\n$/],
  ['credentials', {}, /^CLIENT_ID and CLIENT_SECRET are not set in the environment\.\n$/],
])('names a missing %s', async (_, env, message) => {
  const { code, stdout, stderr } = await transcribe({ AUTH_URL: 'https://auth.example.com', ...env })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(message)
})

test('the server names a missing application for pages', async () => {
  const env = { AUTH_URL, SPEECH_URL, CLIENT_ID: clientId, CLIENT_SECRET: secret }
  const { code, stdout, stderr } = await runCommand('serve', [], { env })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^PAGE_AUTH_URL .*, PAGE_CLIENT_ID and PAGE_CLIENT_SECRET are not set .*\.\n$/)
})

test('the server names what trials require', async () => {
  const credentials = { CLIENT_ID: clientId, CLIENT_SECRET: secret }
  const page = { PAGE_ISSUER: AUTH_URL, PAGE_CLIENT_ID: clientId, PAGE_CLIENT_SECRET: secret }
  const env = { ISSUER: AUTH_URL, SPEECH_URL, SANDBOX_URL: AUTH_URL, ...credentials, ...page }
  const { code, stdout, stderr } = await runCommand('serve', [], { env })
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^SANDBOX_URL requires AUTH_URL, .*\.\n$/)
})
