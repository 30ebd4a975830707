import { readFile, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Logger } from '@nestjs/common'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { startNestClient } from '../../src/clients/nest-client.ts'
import { countRequests } from '../../src/command/run-demo.ts'
import { environmentOf, type LocalPlatform } from '../../src/platform/connection.ts'
import { startLocalPlatform } from '../../src/platform/start-local-platform.ts'
import type { TokenStatus } from '../../src/tokens/token-status.ts'
import { sandbox, serverApplication } from '../../src/server/settings.ts'
import { sampleOf, samplesFolder, padWav, silentWav } from '../platform.ts'
import { startNest } from './nest-application.ts'

const { file, text } = sampleOf('digits')

let platform: LocalPlatform
let server: Awaited<ReturnType<typeof startNest>>
let url: string

beforeAll(async () => {
  platform = await startLocalPlatform()
  for (const [name, value] of Object.entries(environmentOf(platform))) vi.stubEnv(name, value)
  server = await startNest((module) => module)
  url = server.url
})
afterAll(async () => {
  await server?.close()
  await platform?.close()
  vi.unstubAllEnvs()
})

async function newSession(at = url): Promise<{ cookie: string }> {
  const response = await fetch(`${at}/api/sessions`, { method: 'POST' })
  expect(response.status).toBe(204)
  const [cookie = ''] = response.headers.getSetCookie()
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/)
  return { cookie: cookie.split(';')[0]! }
}

function form(content: Buffer): FormData {
  const form = new FormData()
  form.set('file', new Blob([content as Buffer<ArrayBuffer>]), 'recording.wav')
  return form
}

test.each(['/api/token', '/api/transcriptions', '/api/token-status'])(
  '%s requires a session',
  async (path) => {
    const method = path === '/api/token-status' ? 'GET' : 'POST'
    for (const headers of [{}, { cookie: 'speech-to-text=s%3Amade-up.signature' }]) {
      const response = await fetch(url + path, { method, headers })
      expect(response.status).toBe(401)
      expect(await response.json()).toMatchObject({ error: { code: 'session_expired' } })
    }
  },
)

test.each([
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site' },
])('rejects requests from other origins, with or without a session: %o', async (headers) => {
  const session = await newSession()
  for (const path of ['/api/token', '/api/transcriptions', '/api/sessions']) {
    const response = await fetch(url + path, { method: 'POST', headers: { ...session, ...headers } })
    expect(response.status).toBe(403)
  }
})

test('returns a page token that must not be stored and is valid for at least 60 s', async () => {
  const response = await fetch(`${url}/api/token`, { method: 'POST', headers: await newSession() })
  expect(response.headers.get('cache-control')).toBe('no-store')
  const token = (await response.json()) as { access_token: string; expires_in: number }
  expect(Object.keys(token).sort()).toEqual(['access_token', 'expires_in', 'token_type'])
  expect(token.expires_in).toBeGreaterThan(60)
  expect(token.expires_in).toBeLessThanOrEqual(300)
})

test('returns the same token to all sessions until the speech API rejects it', async () => {
  const tokenFor = async (headers: Record<string, string>): Promise<string> => {
    const response = await fetch(`${url}/api/token`, { method: 'POST', headers })
    return ((await response.json()) as { access_token: string }).access_token
  }
  const [one, other] = [await newSession(), await newSession()]
  expect(one.cookie).not.toBe(other.cookie)
  const token = await tokenFor(one)
  expect(await tokenFor(other)).toBe(token)
  const next = await tokenFor({ ...one, 'x-token-rejected': 'true' })
  expect(next).not.toBe(token)
  expect(await tokenFor(other)).toBe(next)
})

test('forwards a recording and leaves no file', async () => {
  // Identified by its size: other tests use the same folder.
  const recording = padWav(await readFile(join(samplesFolder, file)), 0.1234)
  const onDisk = async () => {
    const names = (await readdir(tmpdir())).filter((name) => /^[\da-f]{32}$/.test(name))
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(tmpdir(), name)).then(
          ({ size }) => size,
          () => undefined,
        ),
      ),
    )
    return sizes.filter((size) => size === recording.length)
  }
  const response = await fetch(`${url}/api/transcriptions`, {
    method: 'POST',
    headers: await newSession(),
    body: form(recording),
  })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({ text })
  expect(await onDisk()).toEqual([])
})

test('forwards a long recording as a job that only its session can access', async () => {
  const [own, other] = [await newSession(), await newSession()]
  const body = form(padWav(await readFile(join(samplesFolder, file)), 30))
  const post = async () => {
    const response = await fetch(`${url}/api/transcriptions`, { method: 'POST', headers: own, body })
    expect(response.status).toBe(202)
    return url + response.headers.get('location')
  }
  const [kept, cancelled] = [await post(), await post()]
  for (const method of ['GET', 'DELETE']) {
    expect((await fetch(kept, { method, headers: other })).status).toBe(404)
    expect((await fetch(kept, { method })).status).toBe(401)
  }
  expect((await fetch(cancelled, { method: 'DELETE', headers: own })).status).toBe(204)
  expect((await fetch(cancelled, { headers: own })).status).toBe(404)
  const ask = async () => (await fetch(kept, { headers: own })).json()
  await expect.poll(ask, { timeout: 50_000 }).toMatchObject({ state: 'done', result: { text } })
  // The result was returned, so the job is removed.
  expect((await fetch(kept, { headers: own })).status).toBe(404)
})

test('compresses the page but not the token status stream', async () => {
  expect((await fetch(`${url}/page.css`)).headers.get('content-encoding')).toMatch(/^(br|gzip)$/)
  const stream = new AbortController()
  const status = await fetch(`${url}/api/token-status`, {
    headers: await newSession(),
    signal: stream.signal,
  })
  expect(status.headers.get('content-encoding')).toBeNull()
  const { value } = await status.body!.getReader().read()
  expect(Buffer.from(value!).toString()).toContain('tokenRequests')
  stream.abort()
})

test.each([
  ['no file', new FormData(), 400, 'no_file'],
  ['no recording', form(Buffer.from('These are notes.')), 415, 'not_a_wav'],
  [
    'a file too large',
    form(Buffer.concat([silentWav(0.1), Buffer.alloc(26 * 1024 * 1024)])),
    413,
    'too_large',
  ],
])('responds with a sentence to %s', async (_what, body, status, code) => {
  const response = await fetch(`${url}/api/transcriptions`, {
    method: 'POST',
    headers: await newSession(),
    body,
  })
  expect(response.status).toBe(status)
  expect(await response.json()).toEqual({ error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) } })
})

test('replaces a token that was revoked or has expired, and keeps one during an outage', async () => {
  const headers = await newSession()
  const stream = new AbortController()
  const events = await fetch(`${url}/api/token-status`, { headers, signal: stream.signal })
  let received = ''
  const reading = (async () => {
    for await (const chunk of events.body!) received += Buffer.from(chunk as Uint8Array).toString()
  })().catch(() => {})
  const steps = () => {
    const last = received.trim().split('data: ').at(-1) ?? '{}'
    return (JSON.parse(last) as TokenStatus).steps.map(({ what }) => what)
  }
  const recording = await readFile(join(samplesFolder, file))
  const transcribe = async () => {
    const response = await fetch(`${url}/api/transcriptions`, {
      method: 'POST',
      headers,
      body: form(recording),
    })
    expect([response.status, await response.json()]).toMatchObject([200, { text }])
  }
  const attempt = async (trial: string) =>
    expect((await fetch(`${url}/api/trials/${trial}`, { method: 'POST', headers })).status).toBe(204)

  await attempt('expired')
  await attempt('revoked') // There is nothing to revoke.
  await transcribe()
  await expect.poll(steps).toEqual(expect.arrayContaining(['expired', 'used']))
  expect(steps()).not.toContain('revoked')
  await attempt('revoked')
  await expect
    .poll(async () => (await transcribe(), steps().slice(-4)), { timeout: 20_000, interval: 300 })
    .toEqual(expect.arrayContaining(['rejected', 'replaced']))

  await attempt('outage')
  await transcribe()
  await attempt('expired')
  const failed = await fetch(`${url}/api/transcriptions`, { method: 'POST', headers, body: form(recording) })
  expect([failed.status, await failed.json()]).toMatchObject([503, { error: { code: 'token_unavailable' } }])
  await fetch(`${platform.sandboxUrl}/faults`, { method: 'DELETE' })
  await attempt('expired')
  await transcribe()
  stream.abort()
  await reading
})

test('offers no trials with services that it did not start', async () => {
  const external = await startNest((module) => module.overrideProvider(sandbox.KEY).useValue({}))
  const at = external.url
  try {
    expect(await (await fetch(`${at}/api/page-settings`)).json()).toEqual({
      speechUrl: platform.speechUrl,
      trials: false,
    })
    for (const trial of ['revoked', 'expired', 'outage']) {
      expect((await fetch(`${at}/api/trials/${trial}`, { method: 'POST' })).status).toBe(401)
      const response = await fetch(`${at}/api/trials/${trial}`, {
        method: 'POST',
        headers: await newSession(at),
      })
      expect([response.status, await response.json()]).toMatchObject([404, { error: { code: 'no_trials' } }])
    }
  } finally {
    await external.close()
  }
})

test('reports an invalid client secret without the secret, and not as an expired session', async () => {
  const clientSecret = 'wrong-and-yet-a-secret'
  const wrong = await startNest((module) =>
    module.overrideProvider(serverApplication.KEY).useValue({ ...serverApplication(), clientSecret }),
  )
  const at = wrong.url
  // The expected error is not logged.
  Logger.overrideLogger(false)
  try {
    const response = await fetch(`${at}/api/transcriptions`, {
      method: 'POST',
      headers: await newSession(at),
      body: form(silentWav(0.1)),
    })
    const body = await response.text()
    expect({ status: response.status, code: JSON.parse(body).error.code }).toEqual({
      status: 502,
      code: 'token_credentials',
    })
    expect(body).not.toContain(clientSecret)
  } finally {
    await wrong.close()
  }
})

test('shares one token request among the first 200 recordings', async () => {
  const requests = countRequests()
  const client = await startNestClient()
  try {
    const recording = new Blob([silentWav(0.1) as Buffer<ArrayBuffer>])
    const responses = await Promise.allSettled(
      Array.from({ length: 200 }, () => client.transcribe(recording)),
    )
    // The speech API rejects what exceeds its limits.
    const codes = responses.flatMap((response) =>
      response.status === 'rejected' ? [response.reason.code as string] : [],
    )
    expect(codes.filter((code) => code !== 'busy' && code !== 'too_many_recordings')).toEqual([])
    expect(codes.length).toBeLessThan(200)
    expect(requests.received.get('POST /v1/transcriptions')).toBe(200)
    expect(requests.received.get('POST /oauth/client_credential/accesstoken')).toBe(1)
  } finally {
    await client.close()
    requests.stop()
  }
})
