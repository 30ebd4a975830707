import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientNames } from '../src/clients/create-speech-client.ts'
import type { LocalPlatform } from '../src/platform/connection.ts'
import { startLocalPlatform } from '../src/platform/start-local-platform.ts'
import { runCommand, type CommandOptions, sampleOf, samples, samplesFolder, silentWav } from './platform.ts'

const files = ['a.wav', 'b.wav', 'c.wav']
const { file, text } = sampleOf('digits')
const lines = (text: string) => text.trimEnd().split('\n')

let folder: string
let platform: LocalPlatform
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
  const recording = await readFile(join(samplesFolder, file))
  await writeFile(join(folder, 'good.wav'), recording)
  await mkdir(join(folder, 'three'))
  for (const name of files) await writeFile(join(folder, 'three', name), recording)
})
afterAll(async () => {
  await platform.close()
  await rm(folder, { recursive: true })
})

test.each(clientNames)('%s transcribes several recordings with one token request', async (client) => {
  const { code, stdout, stderr } = await transcribe([...files, '--client', client], {
    cwd: join(folder, 'three'),
  })
  expect({ code, lines: lines(stdout) }).toEqual({ code: 0, lines: files.map((name) => `${name}: ${text}`) })
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
  const { code, stdout } = await transcribe(['-', '.', '*.wav'], {
    cwd: join(folder, 'three'),
    input,
  })
  expect(code).toBe(0)
  expect(lines(stdout)).toEqual(['standard input', ...files].map((name) => `${name}: ${text}`))
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

test.each(clientNames)('%s: transcribes what is expected', async (client) => {
  for (const { file, expected, text } of samples.filter(({ expected }) => expected.grammar !== 'dates')) {
    const option = join(folder, `${client}.txt`)
    if (expected.grammar === 'text') await writeFile(option, expected.text)
    else if (expected.grammar === 'phrases') await writeFile(option, expected.phrases.join('\n'))
    const args =
      expected.grammar === 'text' || expected.grammar === 'phrases'
        ? [`--${expected.grammar}`, option]
        : ['--grammar', expected.grammar]
    const { code, stdout, stderr } = await transcribe([file, '--quiet', '--client', client, ...args], {
      cwd: samplesFolder,
    })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${file}: ${text}\n`, stderr: '' })
  }
})

test('says what is uncertain, and which words are not in the dictionary', async () => {
  const other = sampleOf('phrases').file
  const uncertain = await transcribe([other, '--quiet', '--grammar', 'codes'], { cwd: samplesFolder })
  expect(uncertain).toMatchObject({
    code: 0,
    stderr: `${other}: Part of the recording sounds unlike what was expected.\n`,
  })
  await writeFile(join(folder, 'words.txt'), 'four zzq')
  const unknown = await transcribe(['good.wav', '--text', 'words.txt'], { cwd: folder })
  expect(unknown).toMatchObject({ code: 2, stdout: '' })
  expect(unknown.stderr).toContain('good.wav: These words are not in the dictionary: "zzq".')
})

test.each([
  ['an unknown client', ['a.wav', '--client', 'curl'], 'curl'],
  ['no file', [], 'FILE'],
  ['an unknown grammar', ['a.wav', '--grammar', 'colours'], 'colours'],
  ['a file that does not exist', ['a.wav', '--text', 'gone.txt'], 'gone.txt'],
  ['two kinds of speech', ['a.wav', '--grammar', 'digits', '--text', import.meta.filename], '--text'],
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
  for (const client of clientNames) {
    for (const { file, text } of ['digits', 'numbers', 'phrases'].map((each) => sampleOf(each as 'digits'))) {
      const row = stdout.split('\n').find((line) => line.includes(file) && line.includes(` ${client} `))
      expect(row).toContain(` ✓ ${text} `)
    }
    expect(stdout).toContain(`${client}: 1 token request for 3 API calls`)
  }
})
