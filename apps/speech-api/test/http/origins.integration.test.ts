import { createSpeechApi } from '@tokenwell/speech-api'
import { expect, test } from 'vitest'
import { startTestApi } from '../support/test-api.ts'
import { createCountingEngine } from '../support/counting-engine.ts'

const origin = 'https://app.example'
const options = { engine: createCountingEngine(), allowedOrigins: [origin, 'http://localhost:3000'] }
const corsHeader = ({ headers }: Response, name: string) => headers.get(`access-control-${name}`)

test('allows pages of the given origins to read responses and errors', async () => {
  await using api = await startTestApi(options)
  for (const headers of [
    { prefer: 'respond-async' },
    { authorization: '' },
    { authorization: 'Bearer bad' },
    { 'content-type': 'text/plain' },
  ]) {
    const response = await api.post('audio', { ...headers, origin })
    expect(corsHeader(response, 'allow-origin')).toBe(origin)
    expect(response.headers.get('vary')).toMatch(/origin/i)
    const readable = corsHeader(response, 'expose-headers')?.toLowerCase().split(/, */)
    expect(readable).toEqual(['www-authenticate', 'retry-after', 'location'])
  }
  expect(corsHeader(await fetch(`${api.url}/nowhere`, { headers: { origin } }), 'allow-origin')).toBe(origin)
})

test('responds to preflight requests without a token', async () => {
  await using api = await startTestApi(options)
  for (const [path, method] of [
    ['/v1/transcriptions', 'POST'],
    ['/v1/transcriptions/1', 'DELETE'],
  ] as const) {
    const response = await fetch(`${api.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method },
    })
    expect(response.status).toBe(204)
    expect(corsHeader(response, 'allow-origin')).toBe(origin)
    expect(corsHeader(response, 'allow-methods')).toContain(method)
    expect(corsHeader(response, 'allow-headers')).toBe('Authorization, Content-Type, Prefer')
    expect(corsHeader(response, 'allow-credentials')).toBeNull()
  }
})

test.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
  'does not allow pages of %s',
  async (foreign) => {
    await using api = await startTestApi(options)
    expect(corsHeader(await api.post('audio', { origin: foreign }), 'allow-origin')).toBeNull()
  },
)

test('allows no pages by default', async () => {
  await using api = await startTestApi({ engine: createCountingEngine() })
  expect(corsHeader(await api.post('audio', { origin }), 'allow-origin')).toBeNull()
})

test.each(['*', 'https://app.example/', 'https://app.example/page', 'app.example', 'null', ''])(
  'rejects the origin "%s"',
  (wrong) => {
    const create = () =>
      createSpeechApi({
        authUrl: 'https://auth.example',
        clientId: 'id',
        clientSecret: 's',
        allowedOrigins: [wrong],
      })
    expect(create).toThrow('is not a valid origin. Set only scheme, host and port')
  },
)
