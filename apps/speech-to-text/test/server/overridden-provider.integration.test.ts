import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Logger } from '@nestjs/common'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { createTestTokenProvider, type TestTokenProvider } from '@tokenwell/core/testing'
import { getTokenProviderToken } from '@tokenwell/nestjs-module'
import { pageApplication, serverApplication, speechApi } from '../../src/server/settings.ts'
import { silentWav } from '../platform.ts'
import { startNest } from './nest-application.ts'

// No token service: both clients get tokens of a test. The speech API is a small server of this file.

const transcript = { text: '4 2', durationSeconds: 1, segments: [] }
const credentials = { authUrl: 'https://auth.example.com', clientId: 'test', clientSecret: 'test' }

let tokens: TestTokenProvider
let pageTokens: TestTokenProvider
let received: IncomingHttpHeaders[]
let rejected: string[]
let url: string
let cookie: string
const cleanUp: (() => unknown)[] = []

beforeEach(async () => {
  tokens = createTestTokenProvider({ tokens: ['first', 'second'] })
  pageTokens = createTestTokenProvider({ tokens: ['of the page'] })
  received = []
  rejected = []
  const api = createServer((request, response) => {
    request.resume()
    const { authorization = '' } = request.headers
    if (request.method === 'POST') received.push(request.headers)
    const isRejected = rejected.includes(authorization)
    response.writeHead(isRejected ? 401 : 200, {
      'content-type': 'application/json',
      ...(isRejected && { 'www-authenticate': 'Bearer error="invalid_token"' }),
    })
    request.on('end', () => response.end(JSON.stringify(isRejected ? {} : transcript)))
  })
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
  const baseURL = `http://127.0.0.1:${(api.address() as AddressInfo).port}`
  const server = await startNest((module) =>
    module
      .overrideProvider(getTokenProviderToken())
      .useValue(tokens)
      .overrideProvider(getTokenProviderToken('page'))
      .useValue(pageTokens)
      .overrideProvider(serverApplication.KEY)
      .useValue(credentials)
      .overrideProvider(pageApplication.KEY)
      .useValue(credentials)
      .overrideProvider(speechApi.KEY)
      .useValue({ baseURL }),
  )
  cleanUp.push(
    () => api.close(),
    () => api.closeAllConnections(),
    () => server.close(),
  )
  url = server.url
  const session = await fetch(`${url}/api/sessions`, { method: 'POST' })
  cookie = session.headers.getSetCookie()[0]!
})
afterEach(async () => {
  for (const close of cleanUp.splice(0).toReversed()) await close()
})

async function transcribe(): Promise<{ status: number; retryAfter: string | null; body: unknown }> {
  const body = new FormData()
  body.set('file', new Blob([silentWav(0.1) as Buffer<ArrayBuffer>]), 'recording.wav')
  const response = await fetch(`${url}/api/transcriptions`, { method: 'POST', headers: { cookie }, body })
  const retryAfter = response.headers.get('retry-after')
  return { status: response.status, retryAfter, body: await response.json() }
}

const authorizations = () => received.map(({ authorization }) => authorization)

test('sends recordings with the token of the server', async () => {
  expect(await transcribe()).toMatchObject({ status: 200, body: transcript })
  expect(authorizations()).toEqual(['Bearer first'])
})

test('gives a page the token of its own client', async () => {
  const response = await fetch(`${url}/api/token`, { method: 'POST', headers: { cookie } })
  expect(await response.json()).toMatchObject({ access_token: 'of the page' })
  expect(tokens.requests).toBe(0)
})

test('repeats a recording with a new token when the speech API rejected the first', async () => {
  rejected.push('Bearer first')
  expect(await transcribe()).toMatchObject({ status: 200, body: transcript })
  expect(authorizations()).toEqual(['Bearer first', 'Bearer second'])
})

test('responds with 502 when the speech API rejects every token', async () => {
  rejected.push('Bearer first', 'Bearer second')
  const message = 'The speech API rejected the access token.'
  expect(await transcribe()).toMatchObject({
    status: 502,
    body: { error: { code: 'unexpected_response', message } },
  })
})

test.each([
  ['unavailable', 503, '7'],
  ['credentials', 502, null],
] as const)('responds to a token error of kind %s with %i', async (kind, status, retryAfter) => {
  tokens.error = new TokenError({
    kind,
    message: 'secret details',
    ...(retryAfter && { retryAfterMs: Number(retryAfter) * 1_000 }),
  })
  Logger.overrideLogger(false) // the error is logged
  const response = await transcribe()
  expect(response).toMatchObject({ status, retryAfter, body: { error: { code: `token_${kind}` } } })
  expect(JSON.stringify(response)).not.toContain('secret details')
  expect(received).toEqual([])
})

test('is healthy with a token and a speech API, and names what is down', async () => {
  const health = async () => {
    const response = await fetch(`${url}/health`)
    return [response.status, await response.json()]
  }
  expect(await health()).toMatchObject([
    200,
    { status: 'ok', details: { token: { status: 'up' }, 'speech-api': { status: 'up' } } },
  ])
  tokens.expire()
  tokens.error = new TokenError({ kind: 'unavailable', message: 'The token endpoint is down.' })
  Logger.overrideLogger(false) // the failed check is logged
  expect(await health()).toMatchObject([
    503,
    {
      status: 'error',
      details: { token: { status: 'down', kind: 'unavailable' }, 'speech-api': { status: 'up' } },
    },
  ])
})
