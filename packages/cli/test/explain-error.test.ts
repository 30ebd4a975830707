import { TokenError, type TokenErrorKind } from '@tokenwell/core'
import { expect, it } from 'vitest'
import { exitCodeOf } from '../src/exit-code.ts'
import { asSentence, explainError } from '../src/explain-error.ts'

it('reports an internal error without its message, which may contain anything', () => {
  const error = new TypeError('canary\n    at canary')
  expect(exitCodeOf(error)).toBe(70)
  const [first, name, place] = explainError(error).split('\n')
  expect(first).toBe('Internal error in tokenwell. Please report it.')
  expect(name).toBe('TypeError')
  expect(place).toMatch(/^\s+at .*explain-error\.test\.ts/)
  expect(explainError(error)).not.toContain('canary')
  expect(explainError('canary')).not.toContain('canary')
})

it.each<[kind: TokenErrorKind, status: number | undefined, isExplained: boolean]>([
  ['configuration', undefined, false],
  ['configuration', 404, true],
  ['unavailable', undefined, true],
])('recommends the doctor for what happens on the network: %s, %s', (kind, status, isExplained) => {
  const message = explainError(new TokenError({ kind, message: 'Not now.', status }))
  expect(message).toBe(`Not now.${isExplained ? ' Run `tokenwell doctor` for details.' : ''}`)
})

it('ends a message with one full stop', () => {
  expect([asSentence('Once'), asSentence('Once.')]).toStrictEqual(['Once.', 'Once.'])
})
