import { expect, test } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { connectionFromEnvironment, sandboxUrlFrom } from '../../src/platform/connection.ts'
import { describeError } from '../../src/platform/describe-error.ts'

const complete = {
  AUTH_URL: 'https://auth.example.com/',
  SPEECH_URL: 'https://speech.example.com/v0//',
  CLIENT_ID: 'id',
  CLIENT_SECRET: 'secret',
}

test('returns undefined without any URL', () => {
  expect(connectionFromEnvironment({})).toBeUndefined()
  expect(connectionFromEnvironment({ CLIENT_ID: 'of something else', AUTH_URL: '' })).toBeUndefined()
})

test('removes trailing slashes from the URL of the speech API', () => {
  expect(connectionFromEnvironment(complete)).toEqual({
    authUrl: 'https://auth.example.com/',
    speechUrl: 'https://speech.example.com/v0',
    clientId: 'id',
    clientSecret: 'secret',
  })
})

test('accepts the names consumer key and secret', () => {
  const { AUTH_URL, SPEECH_URL } = complete
  const connection = connectionFromEnvironment({
    AUTH_URL,
    SPEECH_URL,
    CONSUMER_KEY: 'k',
    CONSUMER_SECRET: 's',
  })
  expect(connection).toMatchObject({ clientId: 'k', clientSecret: 's' })
})

test('accepts any token service', () => {
  const environment = { ...complete, AUTH_URL: undefined, ISSUER: 'https://issuer.example.com' }
  expect(connectionFromEnvironment(environment)).toMatchObject({ issuer: 'https://issuer.example.com' })
})

test.each(['AUTH_URL', 'SPEECH_URL', 'CLIENT_ID', 'CLIENT_SECRET'])('names a missing %s', (name) => {
  expect(() => connectionFromEnvironment({ ...complete, [name]: undefined })).toThrow(
    new RegExp(`^${name} (is missing|.*is not set)`),
  )
})

test.each(['AUTH_URL', 'SPEECH_URL'])('rejects an invalid %s', (name) => {
  expect(() => connectionFromEnvironment({ ...complete, [name]: 'speech.example.com' })).toThrow(
    `${name} is not a valid URL`,
  )
})

test.each(['ftp://speech.example.com', '/speech'])(
  'rejects %s as the URL of the speech API',
  (SPEECH_URL) => {
    expect(() => connectionFromEnvironment({ ...complete, SPEECH_URL })).toThrow(
      'SPEECH_URL is not a valid URL',
    )
  },
)

test('accepts a sandbox only with the URL below which trials revoke tokens', () => {
  const SANDBOX_URL = 'http://127.0.0.1:3001'
  expect(sandboxUrlFrom({ ...complete, SANDBOX_URL })).toBe(SANDBOX_URL)
  for (const name of ['ISSUER', 'TOKEN_ENDPOINT'])
    expect(() => sandboxUrlFrom({ SANDBOX_URL, [name]: 'https://auth.example.com' })).toThrow(
      'SANDBOX_URL requires AUTH_URL, where trials revoke tokens.',
    )
  expect(sandboxUrlFrom({ ISSUER: 'https://auth.example.com', SANDBOX_URL: '' })).toBeUndefined()
})

test.each(['configuration', 'aborted'] as const)('ends a message of kind %s with one full stop', (kind) => {
  const message = 'Timed out after 30 s while waiting for a token.'
  expect(describeError(new TokenError({ kind, message }))).toBe(message)
})
