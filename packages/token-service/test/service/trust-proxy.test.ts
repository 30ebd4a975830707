import { describe, expect, it } from 'vitest'
import { clientAddress, parseTrustProxy } from '../../src/service/trust-proxy.ts'

describe('trustProxy', () => {
  it.each([
    [true, true],
    ['true', true],
    [false, false],
    [2, 2],
    ['1', 1],
    ['10.0.0.0/8', ['10.0.0.0/8']],
    ['loopback, 192.0.2.7, 2001:db8::/32', ['loopback', '192.0.2.7', '2001:db8::/32']],
    ['uniquelocal,linklocal', ['uniquelocal', 'linklocal']],
  ])('%j is %j', (value, parsed) => {
    expect(parseTrustProxy(value)).toEqual(parsed)
  })

  it.each(['', 'proxy.internal', '10.0.0.0/33', '10.0.0', 'loopback,', '-1', '1e3', '10.0.0.0/8 192.0.2.1'])(
    'rejects %j',
    (value) => {
      expect(() => parseTrustProxy(value)).toThrow(/trustProxy contains/)
    },
  )
})

it.each([[false], [true], [1], [['loopback']]])(
  'reads no address of a closed connection: %j',
  (trustProxy) => {
    const headers = { 'x-forwarded-for': '192.0.2.1' }
    expect(clientAddress(trustProxy)({ socket: {}, headers } as never)).toBe('')
  },
)
