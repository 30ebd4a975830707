import { readFile, readdir, stat } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Logger } from '@nestjs/common'
import type { NestExpressApplication } from '@nestjs/platform-express'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Platform } from '../../src/platform/platform.ts'
import { startLocalPlatform } from '../../src/platform/start-local-platform.ts'
import { createServer } from '../../src/server/create-server.ts'
import type { ServerSettings } from '../../src/server/server-settings.ts'
import { samples, samplesFolder } from '../samples.ts'
import { padWav, silentWav } from '../wav.ts'

const [file, text] = Object.entries(samples)[0]!

let platform: Platform
let server: NestExpressApplication
let url: string

async function listen(settings: ServerSettings): Promise<[NestExpressApplication, string]> {
  const started = await createServer(settings)
  await started.listen(0, '127.0.0.1')
  const { port } = started.getHttpServer().address() as AddressInfo
  return [started, `http://127.0.0.1:${port}`]
}

beforeAll(async () => {
  platform = await startLocalPlatform()
  ;[server, url] = await listen(platform)
})
afterAll(async () => {
  await server?.close()
  await platform?.close()
})

async function newSession(at = url): Promise<{ cookie: string }> {
  const answer = await fetch(`${at}/api/sessions`, { method: 'POST' })
  expect(answer.status).toBe(204)
  const [cookie = ''] = answer.headers.getSetCookie()
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/)
  return { cookie: cookie.split(';')[0]! }
}

function form(content: Buffer): FormData {
  const form = new FormData()
  form.set('file', new Blob([content as Buffer<ArrayBuffer>]), 'recording.wav')
  return form
}

test.each(['/api/token', '/api/transcriptions', '/api/token-life'])(
  '%s is for sessions only',
  async (path) => {
    const method = path === '/api/token-life' ? 'GET' : 'POST'
    for (const headers of [{}, { cookie: 'speech-to-text=s%3Amade-up.signature' }]) {
      const answer = await fetch(url + path, { method, headers })
      expect(answer.status).toBe(401)
      expect(await answer.json()).toMatchObject({ error: { code: 'session_ended' } })
    }
  },
)

test.each([
  { origin: 'https://evil.example' },
  { origin: 'null' },
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site' },
])('what another site sends is refused, session or not: %o', async (headers) => {
  const session = await newSession()
  for (const path of ['/api/token', '/api/transcriptions', '/api/sessions']) {
    const answer = await fetch(url + path, { method: 'POST', headers: { ...session, ...headers } })
    expect(answer.status).toBe(403)
  }
})

test('a session gets the token of the page, which is not to be stored, and with most of its life left', async () => {
  const answer = await fetch(`${url}/api/token`, { method: 'POST', headers: await newSession() })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const token = (await answer.json()) as { access_token: string; expires_in: number }
  expect(Object.keys(token).sort()).toEqual(['access_token', 'expires_in', 'token_type'])
  expect(token.expires_in).toBeGreaterThan(60)
  expect(token.expires_in).toBeLessThanOrEqual(300)
})

test('sessions share a token, until the speech API refused it', async () => {
  const tokenFor = async (headers: Record<string, string>): Promise<string> => {
    const answer = await fetch(`${url}/api/token`, { method: 'POST', headers })
    return ((await answer.json()) as { access_token: string }).access_token
  }
  const [one, other] = [await newSession(), await newSession()]
  expect(one.cookie).not.toBe(other.cookie)
  const token = await tokenFor(one)
  expect(await tokenFor(other)).toBe(token)
  const next = await tokenFor({ ...one, 'cache-control': 'no-cache' })
  expect(next).not.toBe(token)
  expect(await tokenFor(other)).toBe(next)
})

test('a recording goes through, and nothing of it stays on the disk', async () => {
  // Known by its size: others' recordings come and go there meanwhile.
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
  const answer = await fetch(`${url}/api/transcriptions`, {
    method: 'POST',
    headers: await newSession(),
    body: form(recording),
  })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ text })
  expect(await onDisk()).toEqual([])
})

test('a long recording goes through as a job, of which only its session is told', async () => {
  const [own, foreign] = [await newSession(), await newSession()]
  const body = form(padWav(await readFile(join(samplesFolder, file)), 30))
  const post = async () => {
    const answer = await fetch(`${url}/api/transcriptions`, { method: 'POST', headers: own, body })
    expect(answer.status).toBe(202)
    return url + answer.headers.get('location')
  }
  const [kept, cancelled] = [await post(), await post()]
  for (const method of ['GET', 'DELETE']) {
    expect((await fetch(kept, { method, headers: foreign })).status).toBe(404)
    expect((await fetch(kept, { method })).status).toBe(401)
  }
  expect((await fetch(cancelled, { method: 'DELETE', headers: own })).status).toBe(204)
  expect((await fetch(cancelled, { headers: own })).status).toBe(404)
  const ask = async () => (await fetch(kept, { headers: own })).json()
  await expect.poll(ask, { timeout: 50_000 }).toMatchObject({ state: 'done', result: { text } })
  // It has been told, and is forgotten.
  expect((await fetch(kept, { headers: own })).status).toBe(404)
})

test('the page is compressed; what it follows comes at once', async () => {
  expect((await fetch(`${url}/page.css`)).headers.get('content-encoding')).toMatch(/^(br|gzip)$/)
  const following = new AbortController()
  const life = await fetch(`${url}/api/token-life`, { headers: await newSession(), signal: following.signal })
  expect(life.headers.get('content-encoding')).toBeNull()
  const { value } = await life.body!.getReader().read()
  expect(Buffer.from(value!).toString()).toContain('tokenRequests')
  following.abort()
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
])('%s is answered with a sentence', async (_what, body, status, code) => {
  const answer = await fetch(`${url}/api/transcriptions`, {
    method: 'POST',
    headers: await newSession(),
    body,
  })
  expect(answer.status).toBe(status)
  expect(await answer.json()).toEqual({ error: { code, message: expect.stringMatching(/^[A-Z].*\.$/) } })
})

test('without an application for pages they get no token, and are told beforehand', async () => {
  const [without, at] = await listen({ ...platform, page: undefined })
  try {
    expect(await (await fetch(`${at}/api/platform`)).json()).toEqual({
      speechUrl: platform.speechUrl,
      direct: false,
    })
    const answer = await fetch(`${at}/api/token`, { method: 'POST', headers: await newSession(at) })
    expect(answer.status).toBe(404)
  } finally {
    await without.close()
  }
})

test('a wrong secret of the server is no end of the session, and is told without the secret', async () => {
  const clientSecret = 'wrong-and-yet-a-secret'
  const [wrong, at] = await listen({ ...platform, clientSecret })
  // What it logs of it is not for the output of the tests.
  Logger.overrideLogger(false)
  try {
    const answer = await fetch(`${at}/api/transcriptions`, {
      method: 'POST',
      headers: await newSession(at),
      body: form(silentWav(0.1)),
    })
    const body = await answer.text()
    expect({ status: answer.status, code: JSON.parse(body).error.code }).toEqual({
      status: 502,
      code: 'token_credentials',
    })
    expect(body).not.toContain(clientSecret)
  } finally {
    await wrong.close()
  }
})
