import { expect, test } from 'vitest'
import { TokenError } from '@tokenwell/core'
import { connectionFromEnvironment } from '../../src/platform/connection.ts'
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

test('removes trailing slashes from URLs', () => {
  expect(connectionFromEnvironment(complete)).toEqual({
    authUrl: 'https://auth.example.com',
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

test.each(['AUTH_URL', 'SPEECH_URL', 'CLIENT_ID', 'CLIENT_SECRET'])('names a missing %s', (name) => {
  expect(() => connectionFromEnvironment({ ...complete, [name]: undefined })).toThrow(
    new RegExp(`^${name} .*is missing|^${name} is missing`),
  )
})

test.each(['AUTH_URL', 'SPEECH_URL'])('rejects an invalid %s', (name) => {
  for (const value of ['speech.example.com', 'ftp://speech.example.com', '/speech']) {
    expect(() => connectionFromEnvironment({ ...complete, [name]: value })).toThrow(
      `${name} is not a valid URL`,
    )
  }
})

test.each(['configuration', 'aborted'] as const)('ends a message of kind %s with one full stop', (kind) => {
  const message = 'Timed out after 30 s while waiting for a token.'
  expect(describeError(new TokenError({ kind, message }))).toBe(message)
})
