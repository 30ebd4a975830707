import { expect, it } from 'vitest'
import { allowedRanges, isInRange } from '../../src/runtime/internal-addresses.ts'
import { networkAddress } from '../../src/oauth/failed-attempt-limit.ts'

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::9', '2001:db8:1:2::/64'],
  ['2001:db8::9', '2001:db8::/64'],
  ['fe80::1%eth0', 'fe80::/64'],
  ['::1', '::/64'],
  ['::', '::/64'],
])('counts failures of %s by %s', (ip, network) => {
  expect(networkAddress(ip)).toBe(network)
})

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
  expect(isInRange(address, allowedRanges([allowed], 'jwksAllowedHosts'))).toBe(isAllowed)
})
