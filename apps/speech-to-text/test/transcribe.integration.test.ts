import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientNames } from '../src/clients/create-speech-client.ts'
import type { Platform } from '../src/platform/connection.ts'
import { startLocalPlatform } from '../src/platform/start-local-platform.ts'
import {
  runCommand,
  type CommandOptions,
  sampleLines,
  samples,
  samplesFolder,
  silentWav,
} from './platform.ts'

const files = Object.keys(samples)
const [file, text] = Object.entries(samples)[0]!
const lines = (text: string) => text.trimEnd().split('\n')

let folder: string
let platform: Platform
let env: Record<string, string>

/** With an existing platform: starting one takes most of the time. */
const transcribe = (args: readonly string[], options: CommandOptions = {}) =>
  runCommand('transcribe', args, { env, ...options })

beforeAll(async () => {
  platform = await startLocalPlatform()
  const { authUrl, speechUrl, clientId, clientSecret } = platform
  env = { AUTH_URL: authUrl, SPEECH_URL: speechUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
  folder = await mkdtemp(join(tmpdir(), 'transcribe-'))
  await mkdir(join(folder, 'none'))
  await writeFile(join(folder, 'notes.txt'), 'These are notes.')
  await writeFile(join(folder, 'empty.wav'), '')
  await writeFile(join(folder, 'cut.wav'), silentWav(1).subarray(0, 30))
  await writeFile(join(folder, 'large.wav'), Buffer.alloc(30 * 1024 * 1024))
  await writeFile(join(folder, 'good.wav'), await readFile(join(samplesFolder, file)))
})
afterAll(async () => {
  await platform.close()
  await rm(folder, { recursive: true })
})

test.each(clientNames)('%s transcribes the samples with one token request', async (client) => {
  const { code, stdout, stderr } = await transcribe([...files, '--client', client], {
    cwd: samplesFolder,
  })
  expect({ code, lines: lines(stdout) }).toEqual({ code: 0, lines: sampleLines })
  expect(stderr).toMatch(
    new RegExp(`^Transcribed ${files.length} recordings with ${client}: 1 token request, .* s\n$`),
  )
})

test.each(clientNames)('%s: names invalid recordings and transcribes the valid one', async (client) => {
  const bad = ['notes.txt', 'empty.wav', 'cut.wav', 'gone.wav', 'none', 'large.wav']
  const { code, stdout, stderr } = await transcribe([...bad, 'good.wav', '--client', client, '--quiet'], {
    cwd: folder,
  })
  expect({ code, stdout }).toEqual({ code: 2, stdout: `good.wav: ${text}\n` })
  const errors = lines(stderr)
  expect(errors).toHaveLength(bad.length)
  for (const [index, name] of bad.entries()) expect(errors[index]).toMatch(new RegExp(`^${name}\\b.+\\.$`))
})

test('starts a platform and resolves paths relative to the folder of the user, not of pnpm', async () => {
  const { code, stdout } = await runCommand('transcribe', [file], {
    cwd: folder,
    env: { INIT_CWD: samplesFolder },
  })
  expect({ code, stdout }).toEqual({ code: 0, stdout: `${file}: ${text}\n` })
})

test('accepts folders, patterns and standard input', async () => {
  const input = await readFile(join(samplesFolder, file))
  const { code, stdout } = await transcribe(['-', '.', '*.wav'], { cwd: samplesFolder, input })
  expect(code).toBe(0)
  expect(lines(stdout)[0]).toBe(`standard input: ${text}`)
  expect(lines(stdout).slice(1).sort()).toEqual(sampleLines.toSorted())
})

test('prints the warnings of the speech API', async () => {
  const { code, stdout, stderr } = await transcribe(['-', '--quiet'], { input: silentWav(1) })
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'standard input: \n',
    stderr: 'standard input: The recording is silent.\n',
  })
})

test('--json prints one object per line, with times, even for errors', async () => {
  const { code, stdout } = await transcribe(['gone.wav', 'good.wav', '--json'], { cwd: folder })
  expect(code).toBe(2)
  const [gone, good] = lines(stdout).map((line) => JSON.parse(line))
  expect(gone).toEqual({ file: 'gone.wav', error: 'gone.wav does not exist.' })
  expect(good).toMatchObject({ file: 'good.wav', text })
  expect(good.segments.map((segment: { text: string }) => segment.text).join(' ')).toBe(text)
  for (const { start, end } of good.segments) {
    expect(0 <= start && start < end && end <= good.durationSeconds).toBe(true)
  }
})

test.each([
  ['an unknown client', ['a.wav', '--client', 'curl'], 'curl'],
  ['no file', [], 'FILE'],
  ['an unknown option', ['a.wav', '--colour'], '--colour'],
  ['a concurrency of nothing', ['a.wav', '--concurrency', '0'], '--concurrency'],
])('names the cause: %s', async (_what, args, name) => {
  const { code, stdout, stderr } = await transcribe(args)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(name)
  expect(stderr).not.toMatch(/^\s+at /m)
})

test('--help prints to standard output', async () => {
  const { code, stdout, stderr } = await transcribe(['--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const word of ['--client', 'fetch', 'CONSUMER_KEY', 'Exit codes']) expect(stdout).toContain(word)
})

/** Runs a program in the folder of the application with a minimal environment. */
const run = async (program: string, args: readonly string[]): Promise<string> => {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: join(samplesFolder, '..'),
    env: { PATH: process.env['PATH'], TERM: 'xterm', ...env },
  })
  return stdout
}

/** The exit code of the command with its output in a pipe. */
const codeInPipe = (args: string, pipe: string) =>
  run('bash', ['-c', `"${process.execPath}" dist/transcribe.js ${args} ${pipe}; echo "\${PIPESTATUS[0]}"`])

test('exits with 0 when the reader closes the pipe', async () => {
  const args = `samples samples/${file} --json`
  expect(await codeInPipe(args, '2>&1 | head -c 1')).toBe('{0\n')
  expect(await codeInPipe(args, '| head -c 1')).toBe('{0\n')
})

test('exits with 1 when its output cannot be written, as on a full disk', async () => {
  const printed = await codeInPipe(`samples/${file} --json`, '2>&1 >/dev/full')
  expect(printed).toMatch(/^transcribe: The output cannot be written \(ENOSPC\)\.$/m)
  expect(printed).toMatch(/^1\n$/m)
})

test.each([
  [file, 0],
  ['gone.wav', 2],
])('a closed standard error does not change the outcome of %s', async (name, code) => {
  expect(await codeInPipe(`samples/${name}`, '2>&1 >/dev/null | true')).toBe(`${code}\n`)
})

test('prints colours only to terminals, and not with NO_COLOR', async () => {
  const seen = (setting: string) =>
    run('script', ['-qc', `${setting} "${process.execPath}" dist/transcribe.js gone.wav`, '/dev/null'])
  const red = '\u001B[31m'
  expect(await seen('')).toContain(`${red}gone.wav does not exist.`)
  expect(await seen('NO_COLOR=1')).not.toContain(red)
  expect((await transcribe(['gone.wav'])).stderr).not.toContain('\u001B')
})

test('the demo transcribes every sample with every client and one token request each', async () => {
  const { code, stdout, stderr } = await runCommand('demo', [])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const calls = Object.keys(samples).length
  for (const client of clientNames) {
    for (const [file, text] of Object.entries(samples)) {
      const row = stdout.split('\n').find((line) => line.includes(file) && line.includes(` ${client} `))
      expect(row).toContain(` ${text} `)
    }
    expect(stdout).toContain(`${client}: 1 token request for ${calls} API calls`)
  }
})
