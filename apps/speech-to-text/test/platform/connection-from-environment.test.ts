import { expect, test } from 'vitest'
import { connectionFromEnvironment } from '../../src/platform/connection-from-environment.ts'

const complete = {
  AUTH_URL: 'https://auth.example.com/',
  SPEECH_URL: 'https://speech.example.com/v0//',
  CLIENT_ID: 'id',
  CLIENT_SECRET: 'secret',
}

test('no address at all means that none is meant', () => {
  expect(connectionFromEnvironment({})).toBeUndefined()
  expect(connectionFromEnvironment({ CLIENT_ID: 'of something else', AUTH_URL: '' })).toBeUndefined()
})

test('slashes at the end of an address make no difference', () => {
  expect(connectionFromEnvironment(complete)).toEqual({
    authUrl: 'https://auth.example.com',
    speechUrl: 'https://speech.example.com/v0',
    clientId: 'id',
    clientSecret: 'secret',
  })
})

test('consumer key and secret are the client ID and secret', () => {
  const { AUTH_URL, SPEECH_URL } = complete
  const connection = connectionFromEnvironment({
    AUTH_URL,
    SPEECH_URL,
    CONSUMER_KEY: 'k',
    CONSUMER_SECRET: 's',
  })
  expect(connection).toMatchObject({ clientId: 'k', clientSecret: 's' })
})

test.each(['AUTH_URL', 'SPEECH_URL', 'CLIENT_ID', 'CLIENT_SECRET'])('a missing %s is named', (name) => {
  expect(() => connectionFromEnvironment({ ...complete, [name]: undefined })).toThrow(
    new RegExp(`^${name} .*is missing|^${name} is missing`),
  )
})

test.each(['AUTH_URL', 'SPEECH_URL'])('an %s that is no address is named', (name) => {
  for (const value of ['speech.example.com', 'ftp://speech.example.com', '/speech']) {
    expect(() => connectionFromEnvironment({ ...complete, [name]: value })).toThrow(
      `${name} is not an address`,
    )
  }
})
