import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { allExited, acceptConnections } from '../engines/command/program-connections.ts'
import { longRunningCommand } from '../engines/command/test-program.ts'
import { startIntrospectionServer, addressOf, startProcess } from '../support/introspection-server.ts'
import { VALID_TOKEN } from '../support/test-api.ts'
import { digits, formOf, samples } from '../support/recordings.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const built = existsSync(main)
if (!built) process.stdout.write('Skipped the tests of the built server. Run `pnpm build` first.\n')

describe.skipIf(!built)('the built server', () => {
  test('starts, transcribes and stops', async () => {
    await using tokenService = await startIntrospectionServer()
    tokenService.tokens.set(VALID_TOKEN, { active: true, api_products: ['speech-to-text'] })
    const server = startProcess(main, tokenService.authUrl)
    try {
      const url = await addressOf(server.stdout)
      for (const one of samples) {
        const response = await fetch(`${url}/v1/transcriptions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${VALID_TOKEN}` },
          body: formOf(one),
        })
        expect(await response.json()).toMatchObject({ text: one.text, uncertain: false })
      }
      const exited = once(server, 'exit')
      server.kill('SIGTERM')
      expect(await exited).toEqual([0, null])
    } finally {
      server.kill('SIGKILL')
    }
  })

  test('kills the speech recognition program when it stops', async () => {
    await using tokenService = await startIntrospectionServer()
    tokenService.tokens.set(VALID_TOKEN, { active: true, api_products: ['speech-to-text'] })
    const programs = await acceptConnections()
    const connected = programs.next(1)
    const server = startProcess(main, tokenService.authUrl, { SPEECH_ENGINE: longRunningCommand(programs) })
    try {
      const url = await addressOf(server.stdout)
      const transcription = fetch(`${url}/v1/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${VALID_TOKEN}`, 'content-type': 'audio/wav' },
        body: digits.wav,
      })
      const running = await connected
      const exited = once(server, 'exit')
      server.kill('SIGTERM')
      const response = await transcription
      expect({ status: response.status, body: await response.json() }).toMatchObject({
        status: 503,
        body: { error: { code: 'engine_closed' } },
      })
      await allExited(running)
      expect(await exited).toEqual([0, null])
    } finally {
      server.kill('SIGKILL')
      programs.close()
    }
  })

  test('names a missing setting', async () => {
    const run = promisify(execFile)(process.execPath, [main], { env: {} })
    await expect(run).rejects.toMatchObject({
      code: 2,
      stderr: 'speech-api: AUTH_URL is missing. Set it in the environment.\n',
    })
  })
})
