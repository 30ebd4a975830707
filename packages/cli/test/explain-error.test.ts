import { expect, it } from 'vitest'
import { exitCodeOf } from '../src/exit-code.ts'
import { explainError } from '../src/explain-error.ts'

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
