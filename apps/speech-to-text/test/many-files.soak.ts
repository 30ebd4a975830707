import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { createSoakTable } from '@tokenwell/internal-testing/soak-table'
import { countRequests } from '../src/command/run-demo.ts'
import { application, startSpeech, startTokens, sampleOf, samplesFolder, padWav } from './platform.ts'

const script = fileURLToPath(new URL('../dist/transcribe.js', import.meta.url))
const { file, text } = sampleOf('digits')

const table = createSoakTable()
const cleanUp: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of cleanUp.splice(0).toReversed()) await close()
})

test(
  'transcribes 200 recordings of 10 s with one token request and constant memory',
  { timeout: 600_000 },
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'many-files-'))
    cleanUp.push(() => rm(folder, { recursive: true }))
    const spoken = await readFile(join(samplesFolder, file))
    const seconds = (spoken.length - 44) / 32_000
    const recording = padWav(spoken, (10 - seconds) / 2)
    for (let number = 0; number < 200; number++) await writeFile(join(folder, `${number}.wav`), recording)
    const tokens = await startTokens()
    cleanUp.push(() => tokens.close())
    const speech = await startSpeech(tokens.authUrl)
    cleanUp.push(() => speech.close())
    const requests = countRequests()

    const residentMegabytes: number[] = []
    const run = (): Promise<string[]> =>
      new Promise((resolve, reject) => {
        const child = execFile(
          process.execPath,
          [script, folder, '--concurrency', '100', '--quiet'],
          {
            env: {
              PATH: process.env['PATH'],
              AUTH_URL: tokens.authUrl,
              SPEECH_URL: speech.url,
              CLIENT_ID: application.clientId,
              CLIENT_SECRET: application.clientSecret,
            },
          },
          (error, stdout) => (error ? reject(error) : resolve(stdout.trimEnd().split('\n'))),
        )
        child.stdout?.on('data', () => {
          const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
          const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(status) ?? []
          if (kilobytes) residentMegabytes.push(Math.round(Number(kilobytes) / 1024))
        })
      })
    await table.measure('recordings of 10 s', async () => {
      const lines = await run()
      requests.stop()
      expect(lines).toHaveLength(200)
      expect(lines.filter((line) => !line.endsWith(`.wav: ${text}`))).toEqual([])
      const tokenRequests = requests.received.get('POST /oauth/client_credential/accesstoken')
      expect(tokenRequests).toBe(1)
      const [first] = residentMegabytes
      const most = Math.max(...residentMegabytes)
      expect(most).toBeLessThan(first! + 150)
      const calls = requests.received.get('POST /v1/transcriptions')
      return { calls, failures: 0, tokenRequests, figures: `${first} MB at first, ${most} MB at most` }
    })
  },
)
