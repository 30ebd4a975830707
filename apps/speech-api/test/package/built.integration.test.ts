import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '@tokenwell/internal-testing/free-port'
import { formOf, sampleOf } from '../support/recordings.ts'
import { startTestApi, type TestApi } from '../support/test-api.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const built = existsSync(main)
if (!built) process.stdout.write('Skipped the tests of the built server. Run `pnpm build` first.\n')

describe.skipIf(!built)('the built server', () => {
  let api: TestApi
  beforeAll(async () => void (api = await startTestApi()))
  afterAll(() => api[Symbol.asyncDispose]())

  /** Starts it in another process, with next to nothing of this environment. */
  async function start(port: number, more: NodeJS.ProcessEnv = {}): Promise<ChildProcess> {
    const env = {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      PORT: String(port),
      AUTH_URL: api.tokenService.authUrl,
      CLIENT_ID: 'speech-api',
      CLIENT_SECRET: 'the secret of the speech API',
      ...more,
    }
    const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    await once(child.stdout, 'data')
    return child
  }

  async function post(port: number, fields: Record<string, string>) {
    const headers = { authorization: `Bearer ${await api.tokenOf('one')}` }
    const body = formOf({ wav: sampleOf('digits').wav, fields })
    const response = await fetch(`http://127.0.0.1:${port}/v1/transcriptions`, {
      method: 'POST',
      headers,
      body,
    })
    return response.json()
  }

  test('transcribes, and stops at a signal', async () => {
    const port = await freePort()
    const child = await start(port)
    expect(await post(port, { expected: 'digits' })).toMatchObject({ text: sampleOf('digits').text })
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('runs another program, which gets no secrets', async () => {
    const port = await freePort()
    await start(port, { SPEECH_ENGINE: 'test -s {file} && echo free $CLIENT_ID$CLIENT_SECRET' })
    expect(await post(port, { expected: 'speech' })).toMatchObject({
      text: 'free speech-api',
      expected: 'speech',
    })
  })

  test('removes the recordings of a server that was killed when it starts again', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'leftovers-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const port = await freePort()
    const files = async () =>
      (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.wav'))
    const [old, recent] = [join(folder, 'speech-api-old'), join(folder, 'speech-api-recent')]
    for (const other of [old, recent]) await mkdir(other)
    await utimes(old, 1, 1)
    const child = await start(port, { TMPDIR: folder })
    await expect.poll(() => existsSync(old)).toBe(false)
    const upload = request(`http://127.0.0.1:${port}/v1/transcriptions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await api.tokenOf('one')}`,
        'content-type': 'multipart/form-data; boundary=x',
        'content-length': 2_000_000,
      },
    }).on('error', () => {})
    upload.write('--x\r\ncontent-disposition: form-data; name="file"; filename="r.wav"\r\n\r\n')
    upload.write(Buffer.alloc(1_000_000, 1))
    await expect.poll(files).toHaveLength(1)
    child.kill('SIGKILL')
    await once(child, 'exit')
    expect(await files()).toHaveLength(1)
    await start(port, { TMPDIR: folder })
    await expect.poll(files).toHaveLength(0)
    expect(existsSync(recent)).toBe(true)
  })

  test.each([
    [{}, 'AUTH_URL is missing. Set it in the environment.'],
    [
      { AUTH_URL: 'http://127.0.0.1:1', CLIENT_ID: 'a', CLIENT_SECRET: 'b', PORT: 'x' },
      'PORT must be a whole number',
    ],
  ])('names an invalid setting: %j', async (env, message) => {
    const run = promisify(execFile)(process.execPath, [main], { env })
    await expect(run).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`speech-api: ${message}`),
    })
  })
})
