import { Readable } from 'node:stream'
import { createSpeechApi } from '@tokenwell/speech-api'
import { describe, expect, test } from 'vitest'
import { wavFile } from '../scripts/wav-file.ts'
import { readSettings } from '../src/settings.ts'
import { commandThat } from './command/command-that.ts'

const environment = { AUTH_URL: 'https://auth.example', CLIENT_ID: 'id', CLIENT_SECRET: 'secret' }

describe('the environment', () => {
  test('gives address, credentials, port and host', () => {
    expect(readSettings({ ...environment, PORT: '0', HOST: '::1' })).toEqual({
      port: 0,
      host: '::1',
      authUrl: 'https://auth.example',
      clientId: 'id',
      clientSecret: 'secret',
      allowInsecure: false,
    })
  })

  test('gives how many jobs may be under way', () => {
    expect(readSettings({ ...environment, MAX_JOBS: '4' }).maxJobs).toBe(4)
    expect(() => readSettings({ ...environment, MAX_JOBS: '1' })).toThrow('MAX_JOBS must be a number from 2')
  })

  test('may call the credentials consumer key and secret', () => {
    const { AUTH_URL } = environment
    const settings = readSettings({ AUTH_URL, CONSUMER_KEY: 'key', CONSUMER_SECRET: 'hush' })
    expect(settings).toMatchObject({ clientId: 'key', clientSecret: 'hush' })
  })

  test.each([
    ['AUTH_URL', 'AUTH_URL is not set.'],
    ['CLIENT_ID', 'CLIENT_ID or CONSUMER_KEY is not set.'],
    ['CLIENT_SECRET', 'CLIENT_SECRET or CONSUMER_SECRET is not set.'],
  ])('without %s is an error that names it', (name, message) => {
    expect(() => readSettings({ ...environment, [name]: '' })).toThrow(message)
  })

  test.each(['-1', '65536', 'eighty', '1.5'])('with a port of %s is an error', (PORT) => {
    expect(() => readSettings({ ...environment, PORT })).toThrow('PORT must be a number')
  })
})

describe('the program that recognises speech', () => {
  const engineOf = (settings: Record<string, string>) => readSettings({ ...environment, ...settings }).engine

  test('is the digits engine unless one is named', () => {
    expect(engineOf({})).toBeUndefined()
    expect(engineOf({ SPEECH_ENGINE: '' })).toBeUndefined()
    expect(engineOf({ SPEECH_ENGINE: 'ls {file}' })?.name).toBe('command')
  })

  test('is not shown the secrets of this server', async () => {
    const { PATH } = process.env
    const secrets = { ...environment, CONSUMER_SECRET: 'hush', PATH }
    const { engine } = readSettings({ ...secrets, SPEECH_ENGINE: commandThat('tells-environment') })
    const { segments } = await engine!.transcribe(Readable.from([wavFile(new Float32Array(9))]), {
      signal: new AbortController().signal,
    })
    expect(segments[0]?.text).toContain('AUTH_URL')
    expect(segments[0]?.text).not.toContain('SECRET')
    await engine!.close()
  })

  test.each([
    [{ SPEECH_ENGINE: 'ls' }, 'SPEECH_ENGINE cannot be used. The command of the speech engine has no {file}'],
    [
      { SPEECH_ENGINE: 'ls {file}', SPEECH_ENGINE_SECONDS: '0' },
      'SPEECH_ENGINE_SECONDS must be a number from 1',
    ],
    [{ SPEECH_ENGINE: 'ls {file}', SPEECH_ENGINE_CONCURRENCY: 'all' }, 'SPEECH_ENGINE_CONCURRENCY must be a'],
  ])('%o is an error', (settings, message) => {
    expect(() => engineOf(settings)).toThrow(message)
  })
})

test.each([
  [undefined, undefined],
  ['', []],
  ['https://a.example, https://b.example', ['https://a.example', 'https://b.example']],
])('the origins of pages are split: %s', (ALLOWED_ORIGINS, origins) => {
  expect(readSettings({ ...environment, ALLOWED_ORIGINS }).allowedOrigins).toEqual(origins)
})

describe('the address of the token service', () => {
  const create = (authUrl: string) => () =>
    createSpeechApi({ authUrl, clientId: 'id', clientSecret: 'secret' })

  test.each(['', 'auth.example', 'ftp://auth.example'])('"%s" is none', (authUrl) => {
    expect(create(authUrl)).toThrow('authUrl must be an http or https address')
  })

  test.each(['http://auth.example', 'http://127.0.0.1.example'])(
    '%s would carry credentials in the clear',
    (url) => {
      expect(create(url)).toThrow('use HTTPS, or set allowInsecure')
    },
  )
})
