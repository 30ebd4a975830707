import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createSpeechApi } from '@tokenwell/speech-api'
import { wavFile } from '../support/wav-file.ts'
import { readSettings } from '../../src/server/speech-api-options.ts'
import { testCommand } from '../engines/command/test-program.ts'

const environment = { AUTH_URL: 'https://auth.example', CLIENT_ID: 'id', CLIENT_SECRET: 'secret' }

describe('environment variables', () => {
  test('set URL, credentials, port and host', () => {
    expect(readSettings({ ...environment, PORT: '0', HOST: '::1' })).toEqual({
      port: 0,
      host: '::1',
      authUrl: 'https://auth.example',
      clientId: 'id',
      clientSecret: 'secret',
      allowInsecureRequests: false,
    })
  })

  test('set the maximum number of active jobs', () => {
    expect(readSettings({ ...environment, MAX_JOBS: '4' }).maxJobs).toBe(4)
    expect(() => readSettings({ ...environment, MAX_JOBS: '1' })).toThrow(
      'MAX_JOBS must be a whole number from 2',
    )
  })

  test('accept the names consumer key and secret', () => {
    const { AUTH_URL } = environment
    const settings = readSettings({ AUTH_URL, CONSUMER_KEY: 'key', CONSUMER_SECRET: 'hush' })
    expect(settings).toMatchObject({ clientId: 'key', clientSecret: 'hush' })
  })

  test.each([
    ['AUTH_URL', 'AUTH_URL is missing. Set it in the environment.'],
    ['CLIENT_ID', 'CLIENT_ID or CONSUMER_KEY is missing. Set it in the environment.'],
    ['CLIENT_SECRET', 'CLIENT_SECRET or CONSUMER_SECRET is missing. Set it in the environment.'],
  ])('are rejected without %s', (name, message) => {
    expect(() => readSettings({ ...environment, [name]: '' })).toThrow(message)
  })

  test.each(['-1', '65536', 'eighty', '1.5'])('are rejected with the port %s', (PORT) => {
    expect(() => readSettings({ ...environment, PORT })).toThrow('PORT must be a whole number')
  })
})

describe('the speech engine', () => {
  const engineOf = (settings: Record<string, string>) => readSettings({ ...environment, ...settings }).engine

  test('is the grammar engine by default', () => {
    expect(engineOf({})).toBeUndefined()
    expect(engineOf({ SPEECH_ENGINE: '' })).toBeUndefined()
    expect(engineOf({ SPEECH_ENGINE: 'ls {file}' })?.name).toBe('command')
  })

  test('does not get the secrets of this server', async () => {
    const { PATH } = process.env
    const secrets = { ...environment, CONSUMER_SECRET: 'hush', PATH }
    const { engine } = readSettings({ ...secrets, SPEECH_ENGINE: testCommand('print-environment') })
    const { segments } = await engine!.transcribe(Readable.from([wavFile(new Float32Array(9))]), {
      signal: new AbortController().signal,
    })
    expect(segments[0]?.text).toContain('AUTH_URL')
    expect(segments[0]?.text).not.toContain('SECRET')
    await engine!.close()
  })

  test.each([
    [{ SPEECH_ENGINE: 'ls' }, 'SPEECH_ENGINE is invalid. No argument of "ls" contains {file}'],
    [
      { SPEECH_ENGINE: 'ls {file}', SPEECH_ENGINE_SECONDS: '0' },
      'SPEECH_ENGINE_SECONDS must be a whole number from 1',
    ],
    [{ SPEECH_ENGINE: 'ls {file}', SPEECH_ENGINE_CONCURRENCY: 'all' }, 'SPEECH_ENGINE_CONCURRENCY must be a'],
  ])('rejects %o', (settings, message) => {
    expect(() => engineOf(settings)).toThrow(message)
  })
})

test.each([
  [undefined, undefined],
  ['', []],
  ['https://a.example, https://b.example', ['https://a.example', 'https://b.example']],
])('splits the allowed origins: %s', (ALLOWED_ORIGINS, origins) => {
  expect(readSettings({ ...environment, ALLOWED_ORIGINS }).allowedOrigins).toEqual(origins)
})

describe('the URL of the token service', () => {
  const create = (authUrl: string) => () =>
    createSpeechApi({ authUrl, clientId: 'id', clientSecret: 'secret' })

  test.each(['', 'auth.example', 'ftp://auth.example'])('"%s" is rejected as invalid', (authUrl) => {
    expect(create(authUrl)).toThrow(expect.objectContaining({ kind: 'configuration' }))
  })

  test.each(['http://auth.example', 'http://127.0.0.1.example'])(
    '%s is rejected because it would expose the credentials',
    (url) => {
      expect(create(url)).toThrow('https://')
    },
  )
})
