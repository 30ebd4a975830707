import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { GOOD_TOKEN } from '../api-under-test.ts'
import { commandThatStays } from '../command/command-that.ts'
import { gone, receiveVisitors } from '../command/visitors.ts'
import { recordings } from '../hear.ts'
import { startIntrospectionServer } from '../introspection-server.ts'
import { listeningAt, startProcess } from '../server-process.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const built = existsSync(main)
if (!built) process.stdout.write('Skipped the built server: run `pnpm build` first to have it tested.\n')

describe.skipIf(!built)('the built server, in plain Node', () => {
  test('starts, hears and stops', async () => {
    await using tokenService = await startIntrospectionServer()
    tokenService.tokens.set(GOOD_TOKEN, { active: true, api_products: ['speech-to-text'] })
    const server = startProcess(main, tokenService.authUrl)
    try {
      const url = await listeningAt(server.stdout)
      for (const { file, text } of recordings) {
        const response = await fetch(`${url}/v1/transcriptions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${GOOD_TOKEN}`, 'content-type': 'audio/wav' },
          body: Uint8Array.from(file),
        })
        expect(await response.json()).toMatchObject({ text })
      }
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    } finally {
      server.kill('SIGKILL')
    }
  })

  test('runs a program that recognises, and takes it along when it ends', async () => {
    await using tokenService = await startIntrospectionServer()
    tokenService.tokens.set(GOOD_TOKEN, { active: true, api_products: ['speech-to-text'] })
    const visitors = await receiveVisitors()
    const come = visitors.next(1)
    const server = startProcess(main, tokenService.authUrl, { SPEECH_ENGINE: commandThatStays(visitors) })
    try {
      const url = await listeningAt(server.stdout)
      const transcription = fetch(`${url}/v1/transcriptions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${GOOD_TOKEN}`, 'content-type': 'audio/wav' },
        body: Uint8Array.from(recordings[0]!.file),
      })
      const running = await come
      const ended = once(server, 'exit')
      server.kill('SIGTERM')
      const answer = await transcription
      expect({ status: answer.status, body: await answer.json() }).toMatchObject({
        status: 503,
        body: { error: { code: 'engine_closed' } },
      })
      await gone(running)
      expect(await ended).toEqual([0, null])
    } finally {
      server.kill('SIGKILL')
      visitors.close()
    }
  })

  test('says in one sentence what is missing', async () => {
    const run = promisify(execFile)(process.execPath, [main], { env: {} })
    await expect(run).rejects.toMatchObject({ code: 2, stderr: 'speech-api: AUTH_URL is not set.\n' })
  })
})
