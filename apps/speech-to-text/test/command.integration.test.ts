import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { digits, digitsWav, runCommand, samples, usePlatform } from './platform.ts'

const platform = usePlatform()
const transcribe = (args: readonly string[], more: Parameters<typeof runCommand>[2] = {}) =>
  runCommand('transcribe', args, { ...more, env: { ...platform.environment, ...more.env } })

describe('transcribe', () => {
  test('prints a line for each file, in their order', async () => {
    const { code, stdout, stderr } = await transcribe([
      '--expected',
      'digits',
      digits.file,
      `./${digits.file}`,
    ])
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: `${digits.file}: ${digits.text}\n./${digits.file}: ${digits.text}\n`,
    })
    expect(stderr).toMatch(/^Transcribed 2 of 2 recordings: 1 token request, \d+\.\d s\n$/)
  })

  test('prints JSON, with the time of each word, from standard input', async () => {
    const { stdout } = await transcribe(['--expected', 'digits', '--json', '-'], { input: digitsWav })
    const { file, text, segments } = JSON.parse(stdout)
    expect({ file, text, words: segments.length }).toEqual({ file: '-', text: digits.text, words: 6 })
  })

  test('reads sentences from a file', async () => {
    const sample = samples.find(({ fields }) => fields['phrases'])!
    const folder = await mkdtemp(join(tmpdir(), 'phrases-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'phrases.txt')
    await writeFile(file, sample.fields['phrases']!)
    const { stdout } = await transcribe(['--expected', 'phrases', '--phrases', file, sample.file])
    expect(stdout).toBe(`${sample.file}: ${sample.text}\n`)
  })

  test('starts its own services without variables', async () => {
    const { code, stdout } = await runCommand('transcribe', ['--expected', 'digits', digits.file])
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${digits.file}: ${digits.text}\n` })
  })

  test('names each recording that failed, and transcribes the others', async () => {
    const { code, stdout, stderr } = await transcribe([
      '--expected',
      'digits',
      'samples.json',
      'none.wav',
      digits.file,
    ])
    expect({ code, stdout }).toEqual({ code: 2, stdout: `${digits.file}: ${digits.text}\n` })
    expect(stderr).toMatch(
      /^samples\.json: The file is not a WAV file.*\nnone\.wav could not be read\.\nTranscribed 1 of 3/,
    )
  })

  test.each([
    [[digits.file], '--expected is missing: say what is spoken.'],
    [['--expected', 'digits'], 'No file is named.'],
    [['--expected', 'digits', '--retries', 'x', digits.file], '--retries must be'],
    [['--unknown'], "Unknown option '--unknown'"],
  ])('rejects %j', async (args, message) => {
    const { code, stdout, stderr } = await transcribe(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
  })

  test('gives up when the credentials are wrong, or the speech API is down', async () => {
    const args = ['--expected', 'digits', '--retries', '1', digits.file]
    const rejected = await transcribe(args, {
      env: { CLIENT_SECRET: 'another secret, which is long enough' },
    })
    expect(rejected).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('rejected the client credentials'),
    })
    const down = await transcribe(args, { env: { SPEECH_URL: 'http://127.0.0.1:9' } })
    expect(down).toMatchObject({ code: 1, stdout: '' })
    expect(down.stderr).toMatch(
      /could not be reached \(\w+\)\. Retrying\.\n.*could not be reached \(\w+\)\.\n$/,
    )
  })

  test('names a variable that is missing or invalid', async () => {
    for (const [value, message] of [
      ['', 'SPEECH_URL is missing. Set it'],
      ['localhost:1', 'SPEECH_URL is not a valid URL.'],
    ]) {
      const result = await transcribe(['--expected', 'digits', digits.file], { env: { SPEECH_URL: value! } })
      expect(result).toMatchObject({ code: 1, stderr: expect.stringContaining(message!) })
    }
  })

  test('survives an outage of the token service', async () => {
    const body = JSON.stringify({ status: 503, requests: 4 })
    const headers = { 'content-type': 'application/json' }
    await fetch(`${platform.environment['SANDBOX_URL']}/faults`, { method: 'POST', headers, body })
    const { code, stdout, stderr } = await transcribe(['--expected', 'digits', digits.file])
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${digits.file}: ${digits.text}\n` })
    expect(stderr).toContain('Retrying.')
  })
})

test('the demo transcribes three recordings with each client, and one token for each', async () => {
  const { code, stdout } = await runCommand('demo', [])
  expect(stdout.match(/✓/g)).toHaveLength(12)
  for (const client of ['fetch', 'axios', 'ky', 'nest'])
    expect(stdout).toContain(`${client}: 1 token request for 3 API calls\n`)
  expect(code).toBe(0)
})
