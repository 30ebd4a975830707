import { TokenError } from '@tokenwell/core'
import { expect, test } from 'vitest'
import { describeError } from '../../src/platform/describe-error.ts'

test.each(['configuration', 'aborted'] as const)('ends a message of kind %s with one full stop', (kind) => {
  const message = 'Timed out after 30 s while waiting for a token.'
  expect(describeError(new TokenError({ kind, message }))).toBe(message)
})
