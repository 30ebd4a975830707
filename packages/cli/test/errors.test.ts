import { expect, it } from 'vitest'
import { TokenError, type TokenErrorKind } from '@tokenwell/core'
import { isSecure } from '../src/doctor/check-network.ts'
import { formatDuration } from '../src/doctor/finding.ts'
import { asSentence, describeFailure } from '../src/errors.ts'

it('reports an internal error without its message, which may contain anything', () => {
  const { exitCode, message } = describeFailure(new TypeError('canary\n    at canary'))
  expect(exitCode).toBe(70)
  const [first, name, place] = message.split('\n')
  expect(first).toBe('Internal error in tokenwell. Please report it.')
  expect(name).toBe('TypeError')
  expect(place).toMatch(/^\s+at .*errors\.test\.ts/)
  expect(message).not.toContain('canary')
  expect(describeFailure('canary').message).not.toContain('canary')
})

it.each<[kind: TokenErrorKind, status: number | undefined, isExplained: boolean]>([
  ['configuration', undefined, false],
  ['configuration', 404, true],
  ['unavailable', undefined, true],
])('recommends the doctor for what happens on the network: %s, %s', (kind, status, isExplained) => {
  const { message, hints } = describeFailure(new TokenError({ kind, message: 'Not now.', status }))
  expect(message).toBe('Not now.')
  expect(hints).toEqual(isExplained ? ['`tokenwell doctor` examines the token endpoint.'] : [])
})

it('ends a message with one full stop', () => {
  expect([asSentence('Once'), asSentence('Once.')]).toStrictEqual(['Once.', 'Once.'])
})

it.each([
  [0.4, '0 ms'],
  [999, '999 ms'],
  [1000, '1 s'],
  [2345, '2.3 s'],
  [9999, '10 s'],
  [59_999, '1 min'],
  [3_590_000, '59 min 50 s'],
  [3_600_000, '1 h'],
  [90_061_000, '1 day 1 h'],
  [172_800_000, '2 days'],
])('formats %d ms as %s', (ms, words) => {
  expect(formatDuration(ms)).toBe(words)
})

it.each([
  ['https://api.example.com', true],
  ['http://api.example.com', false],
  ['http://localhost:8080', true],
  ['http://127.0.0.1', true],
  ['http://127.100.200.255', true],
  ['http://128.0.0.1', false],
  ['http://[::1]', true],
  ['http://localhost.example.com', false],
  ['http://127.0.0.1.example.com', false],
])('whether a token may be sent to %s: %j', (url, expected) => {
  expect(isSecure(new URL(url))).toBe(expected)
  expect(isSecure(new URL(url), true)).toBe(true)
})
