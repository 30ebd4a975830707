import { expect, it } from 'vitest'
import { networkAddress } from '../../src/oauth/network-address.ts'

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
