import { expect, it } from 'vitest'
import { allowedRanges, isInRange } from '../../src/oauth/internal-addresses.ts'

it.each([
  ['10.0.0.0/8', '10.1.2.3', true],
  ['10.0.0.0/8', '11.1.2.3', false],
  ['10.0.0.1', '10.0.0.1', true],
  ['10.0.0.1', '::ffff:10.0.0.1', true],
  ['10.0.0.1', '10.0.0.2', false],
  ['fd00::/8', 'fd12::1', true],
  ['fd00::1', 'fd00::1', true],
  ['fd00::1', 'fd00::2', false],
  ['fd00::1', '10.0.0.1', false],
  ['keys.internal', '10.0.0.1', false],
])('with %s allowed, %s is allowed: %j', (allowed, address, isAllowed) => {
  expect(isInRange(address, allowedRanges([allowed]))).toBe(isAllowed)
})
