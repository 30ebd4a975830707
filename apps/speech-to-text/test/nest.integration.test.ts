import 'reflect-metadata'
import type { INestApplication } from '@nestjs/common'
import { Test } from '@nestjs/testing'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { createTestTokenProvider } from '@tokenwell/core/testing'
import { TokenError } from '@tokenwell/core'
import { getTokenProviderToken } from '@tokenwell/nestjs-module'
import { AppModule } from '../src/nest/app.module.ts'
import { digits, digitsWav, listen, repeated, startLossyProxy, usePlatform } from './platform.ts'

const platform = usePlatform()

afterEach(() => vi.unstubAllEnvs())

/** Starts the application with these variables; with other tokens, if there are some. */
async function start(environment: Readonly<Record<string, string>>, tokens?: object) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
  const builder = Test.createTestingModule({ imports: [AppModule] })
  if (tokens) builder.overrideProvider(getTokenProviderToken()).useValue(tokens)
  const module = await builder.compile()
  const app: INestApplication = module.createNestApplication({ logger: false })
  await app.listen(0, '127.0.0.1')
  onTestFinished(() => app.close())
  const url = await app.getUrl()
  return {
    async get(path: string) {
      const response = await fetch(url + path)
      return [response.status, await response.json()] as const
    },
    async post(
      fields: Record<string, string> = digits.fields,
      wav: Buffer<ArrayBuffer> | undefined = digitsWav,
    ) {
      const body = new FormData()
      for (const [name, value] of Object.entries(fields)) body.set(name, value)
      if (wav.length > 0) body.set('file', new Blob([wav]))
      const response = await fetch(`${url}/transcriptions`, { method: 'POST', body })
      return [response.status, await response.json()] as const
    },
    remove: async (id: string) => (await fetch(`${url}/transcriptions/${id}`, { method: 'DELETE' })).status,
  }
}

const credentials = { AUTH_URL: 'http://127.0.0.1:9', CLIENT_ID: 'a', CLIENT_SECRET: 'b' }

test('transcribes a recording, and is healthy', async () => {
  const { environment } = platform
  const app = await start(environment)
  expect(await app.post()).toMatchObject([200, { state: 'done', text: digits.text }])
  expect(await app.get('/health')).toMatchObject([
    200,
    { status: 'ok', details: { token: { status: 'up' } } },
  ])
})

test('returns the transcript of a long recording as often as it is requested, until it is deleted', async () => {
  const { environment, speechUrl } = platform
  const { url } = await startLossyProxy(speechUrl)
  const app = await start({ ...environment, SPEECH_URL: url })
  const [, { id }] = await app.post(digits.fields, repeated(30))
  const poll = () => app.get(`/transcriptions/${id}`)
  await expect.poll(poll, { timeout: 60_000 }).toMatchObject([200, { state: 'done' }])
  expect(await poll()).toEqual(await poll())
  expect(await app.remove(id)).toBe(204)
  expect(await poll()).toMatchObject([404, { error: { code: 'transcription_not_found' } }])
})

test('passes on what the speech API rejects, and rejects a form without a recording itself', async () => {
  const { environment } = platform
  const app = await start(environment)
  expect(await app.post({ expected: 'dates' })).toMatchObject([400, { error: { code: 'invalid_field' } }])
  expect(await app.post({ expected: 'digits', grammar: 'x' })).toMatchObject([
    400,
    { error: { message: 'There is no field "grammar".' } },
  ])
  expect(await app.post(digits.fields, Buffer.alloc(4))).toMatchObject([
    415,
    { error: { code: 'not_a_wav' } },
  ])
  expect(await app.post(digits.fields, Buffer.alloc(0))).toMatchObject([
    400,
    { message: 'The form has no recording in the field "file".' },
  ])
})

test('repeats a request whose token was rejected, with the tokens of a test', async () => {
  const received: (string | undefined)[] = []
  const SPEECH_URL = await listen((request, response) => {
    request.resume().on('end', () => {
      received.push(request.headers.authorization)
      response.writeHead(received.length === 1 ? 401 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ state: 'done', text: 'heard' }))
    })
  })
  const app = await start({ ...credentials, SPEECH_URL }, createTestTokenProvider({ tokens: ['old', 'new'] }))
  expect(await app.post()).toMatchObject([200, { text: 'heard' }])
  expect(received).toEqual(['Bearer old', 'Bearer new'])
})

test('responds with 502 if its token is rejected for ever, so that its own callers are not blamed', async () => {
  const SPEECH_URL = await listen(
    (request, response) => void request.resume().on('end', () => response.writeHead(401).end()),
  )
  const app = await start({ ...credentials, SPEECH_URL }, createTestTokenProvider({ tokens: ['one', 'two'] }))
  expect(await app.post()).toMatchObject([502, { error: { code: 'unauthorized' } }])
})

test('responds with 503, and says why, if there is no token or no speech API', async () => {
  const error = new TokenError({ kind: 'credentials', message: 'No.' })
  const tokens = createTestTokenProvider({ error })
  const app = await start({ ...credentials, SPEECH_URL: 'http://127.0.0.1:9' }, tokens)
  expect(await app.post()).toEqual([
    503,
    {
      error: {
        code: 'token_credentials',
        message: 'The token service rejected the client ID or secret of this server.',
      },
    },
  ])
  expect(await app.get('/health')).toMatchObject([
    503,
    { error: { token: { status: 'down', message: 'No.' }, 'speech-api': { status: 'down' } } },
  ])
  tokens.error = undefined
  expect(await app.post()).toMatchObject([503, { error: { code: 'unreachable' } }])
})

test('is down after a second while the token service does not respond', async () => {
  const AUTH_URL = await listen(() => {})
  const app = await start({ ...credentials, AUTH_URL, SPEECH_URL: 'http://127.0.0.1:9' })
  expect(await app.get('/health')).toMatchObject([
    503,
    { error: { token: { status: 'down', message: 'The operation was aborted due to timeout' } } },
  ])
})

test('names a variable that is missing', async () => {
  await expect(start({ CLIENT_ID: 'a', CLIENT_SECRET: 'b', AUTH_URL: '' })).rejects.toThrow(/AUTH_URL/)
})
