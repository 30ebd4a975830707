import 'reflect-metadata'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createServer } from '../../src/server/run-server.ts'
import type { TokenStatus } from '../../src/server/token-status.ts'
import { digits, digitsWav, runCommand, usePlatform } from '../platform.ts'

const platform = usePlatform()
let url: string
let close: () => Promise<void>
beforeAll(async () => {
  for (const [name, value] of Object.entries(platform.environment)) vi.stubEnv(name, value)
  const server = await createServer()
  await server.listen(0, '127.0.0.1')
  url = await server.getUrl()
  close = () => server.close()
})
afterAll(async () => {
  await close()
  vi.unstubAllEnvs()
})

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  form.set('file', new Blob([digitsWav]))
  return form
}

const post = (path: string, init: RequestInit = {}) => fetch(`${url}/api${path}`, { method: 'POST', ...init })

/** Reads the status until it fulfils the condition. */
async function statusWhen(condition: (status: TokenStatus) => boolean): Promise<TokenStatus> {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  const response = await fetch(`${url}/api/token-status`, { signal: controller.signal })
  let text = ''
  for await (const bytes of response.body!) {
    text += Buffer.from(bytes).toString()
    const data = /^data: (.*)$/m.exec(text.split('\n\n').at(-2) ?? '')?.[1]
    const status = data && (JSON.parse(data) as TokenStatus)
    if (status && condition(status)) return status
  }
  throw new Error('The server closed the connection.')
}

test('transcribes for the page, and shows it what happens to the token', async () => {
  const transcribe = async () => (await post('/transcriptions', { body: formOf(digits.fields) })).json()
  expect(await transcribe()).toMatchObject({ text: digits.text })
  expect(await statusWhen(({ apiCalls }) => apiCalls === 1)).toMatchObject({
    tokenRequests: 1,
    steps: [{ what: 'requested' }],
  })
  expect((await post('/trials/revoked')).status).toBe(204)
  // The speech API caches introspection responses for a second.
  await expect
    .poll(async () => {
      await transcribe()
      return (await statusWhen(() => true)).steps.map(({ what }) => what)
    })
    .toEqual(expect.arrayContaining(['revoked', 'rejected', 'replaced']))
  expect((await post('/trials/outage')).status).toBe(204)
  expect(await transcribe()).toMatchObject({ text: digits.text })
  expect((await post('/trials/expired')).status).toBe(204)
  expect(await transcribe()).toMatchObject({ error: { code: 'token_unavailable' } })
  await fetch(`${platform.environment['SANDBOX_URL']}/faults`, { method: 'DELETE' })
})

test('returns tokens of the application for pages to its own page alone', async () => {
  const response = await post('/token')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const { access_token: token, expires_in: expiresIn } = await response.json()
  expect(Number(expiresIn)).toBeGreaterThan(200)
  expect(Number(expiresIn)).toBeLessThanOrEqual(300)
  const accepted = await fetch(`${platform.speechUrl}/v1/transcriptions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: formOf(digits.fields),
  })
  expect(accepted.status).toBe(200)
  const foreign: HeadersInit[] = [{ origin: 'https://other.example' }, { 'sec-fetch-site': 'same-site' }]
  for (const headers of foreign) expect((await post('/token', { headers })).status).toBe(403)
  expect((await post('/token', { headers: { origin: url, 'sec-fetch-site': 'same-origin' } })).status).toBe(
    200,
  )
})

test('offers no trials without a sandbox', async () => {
  vi.stubEnv('SANDBOX_URL', '')
  const server = await createServer()
  onTestFinished(() => server.close())
  await server.listen(0, '127.0.0.1')
  const other = await server.getUrl()
  expect((await fetch(`${other}/api/trials/expired`, { method: 'POST' })).status).toBe(404)
  expect(await (await fetch(`${other}/api/page-settings`)).json()).toEqual({
    speechUrl: platform.speechUrl,
    trials: false,
  })
  vi.stubEnv('SANDBOX_URL', platform.environment['SANDBOX_URL'])
})

test.each([
  [{ AUTH_URL: 'http://127.0.0.1:9' }, 'SPEECH_URL is missing.'],
  [{ AUTH_URL: 'http://127.0.0.1:9', SPEECH_URL: 'http://127.0.0.1:9' }, 'CLIENT_ID'],
  [{ PORT: '70000' }, 'PORT must be a whole number'],
])('names an invalid variable: %j', async (env, message) => {
  const { code, stderr } = await runCommand('serve', [], { env })
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(message) })
  expect(stderr.trim().split('\n')).toHaveLength(1)
})
