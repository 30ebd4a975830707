import { createSpeechApi } from '@tokenwell/speech-api'
import { expect, test } from 'vitest'
import { startApi } from '../api-under-test.ts'
import { createListeningEngine } from '../listening-engine.ts'

const origin = 'https://app.example'
const options = { engine: createListeningEngine(), allowedOrigins: [origin, 'http://localhost:3000'] }
const told = ({ headers }: Response, name: string) => headers.get(`access-control-${name}`)

test('pages of an allowed origin may ask, and read what answers and refusals say', async () => {
  await using api = await startApi(options)
  for (const headers of [
    { prefer: 'respond-async' },
    { authorization: '' },
    { authorization: 'Bearer bad' },
    { 'content-type': 'text/plain' },
  ]) {
    const response = await api.post('audio', { ...headers, origin })
    expect(told(response, 'allow-origin')).toBe(origin)
    expect(response.headers.get('vary')).toMatch(/origin/i)
    const readable = told(response, 'expose-headers')?.toLowerCase().split(/, */)
    expect(readable).toEqual(['www-authenticate', 'retry-after', 'location'])
  }
  expect(told(await fetch(`${api.url}/nowhere`, { headers: { origin } }), 'allow-origin')).toBe(origin)
})

test('before they ask they are told what they may send, with no token needed', async () => {
  await using api = await startApi(options)
  for (const [path, method] of [
    ['/v1/transcriptions', 'POST'],
    ['/v1/transcriptions/1', 'DELETE'],
  ] as const) {
    const response = await fetch(`${api.url}${path}`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': method },
    })
    expect(response.status).toBe(204)
    expect(told(response, 'allow-origin')).toBe(origin)
    expect(told(response, 'allow-methods')).toContain(method)
    expect(told(response, 'allow-headers')).toBe('Authorization, Content-Type, Prefer')
    expect(told(response, 'allow-credentials')).toBeNull()
  }
})

test.each(['https://evil.example', 'https://app.example.evil.example', 'http://app.example', 'null'])(
  'pages of %s may not',
  async (foreign) => {
    await using api = await startApi(options)
    expect(told(await api.post('audio', { origin: foreign }), 'allow-origin')).toBeNull()
  },
)

test('by default no page may', async () => {
  await using api = await startApi({ engine: createListeningEngine() })
  expect(told(await api.post('audio', { origin }), 'allow-origin')).toBeNull()
})

test.each(['*', 'https://app.example/', 'https://app.example/page', 'app.example', 'null', ''])(
  '"%s" is no origin',
  (wrong) => {
    const create = () =>
      createSpeechApi({
        authUrl: 'https://auth.example',
        clientId: 'id',
        clientSecret: 's',
        allowedOrigins: [wrong],
      })
    expect(create).toThrow('An allowed origin is written as https://app.example, without a path')
  },
)
