import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { GOOD_TOKEN } from '../api-under-test.ts'
import { recordings } from '../hear.ts'
import { startIntrospectionServer } from '../introspection-server.ts'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const built = existsSync(main)
if (!built) process.stdout.write('Skipped the built server: run `pnpm build` first to have it tested.\n')

describe.skipIf(!built)('the built server, in plain Node', () => {
  test('starts, hears and stops', async () => {
    await using tokenService = await startIntrospectionServer()
    tokenService.tokens.set(GOOD_TOKEN, { active: true, api_products: ['speech-to-text'] })
    const server = spawn(process.execPath, [main], {
      env: { PORT: '0', AUTH_URL: tokenService.authUrl, CLIENT_ID: 'id', CLIENT_SECRET: 'secret' },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
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
      const ended = new Promise((resolve) => {
        server.once('exit', (code) => resolve(code))
      })
      server.kill('SIGTERM')
      expect(await ended).toBe(0)
    } finally {
      server.kill('SIGKILL')
    }
  })

  test('says in one sentence what is missing', async () => {
    const run = promisify(execFile)(process.execPath, [main], { env: {} })
    await expect(run).rejects.toMatchObject({ code: 2, stderr: 'speech-api: AUTH_URL is not set.\n' })
  })
})

async function listeningAt(output: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(output)) {
    const address = /Server listening at (http\S+?)"/.exec(line)?.[1]
    if (address) {
      output.resume()
      return address
    }
  }
  throw new Error('The server ended before it listened.')
}
