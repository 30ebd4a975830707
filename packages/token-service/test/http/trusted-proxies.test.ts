import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import { createServer } from '../../src/http/create-server.ts'
import { parseTrustProxy, type TrustProxy } from '../../src/http/trusted-proxies.ts'
import { testService } from '../test-service.ts'

describe('trustProxy', () => {
  it.each([
    [true, true],
    ['true', true],
    [false, false],
    [' false ', false],
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

it.each([
  [true, true],
  [1, false],
])('warns that clients can forge their address if every proxy is trusted: %j', async (trustProxy, warns) => {
  let log = ''
  const logger = pino({}, { write: (line) => void (log += line) })
  await testService({ trustProxy, logger })
  expect(log.includes('clients can forge their address')).toBe(warns)
  // Without a log too.
  await testService({ trustProxy })
})

it.each([
  ['http://auth.example.com', true],
  ['https://auth.example.com', false],
  ['http://localhost:8080', false],
  ['http://127.0.0.1', false],
  ['http://[::1]:8080', false],
])('warns that secrets are sent unencrypted to the public URL %s: %j', async (publicUrl, warns) => {
  let log = ''
  const logger = pino({}, { write: (line) => void (log += line) })
  await testService({ publicUrl, logger })
  expect(log.includes('secrets and tokens cross the network unencrypted')).toBe(warns)
})

it.each<[TrustProxy, string]>([
  [false, '192.0.2.3'],
  [0, '192.0.2.3'],
  [1, '198.51.100.2'],
  [2, '203.0.113.1'],
  [['198.51.100.0/24'], '192.0.2.3'],
  [['192.0.2.3'], '198.51.100.2'],
  [['192.0.2.0/24', '198.51.100.2'], '203.0.113.1'],
  [true, '203.0.113.1'],
])('trusts what a proxy reports, unless nobody trusts the proxy: %j', async (trustProxy, address) => {
  const server = createServer({ format: 'platform', logger: undefined, trustProxy })
  server.get('/address', (request) => request.ip)
  const headers = { 'x-forwarded-for': '203.0.113.1, 198.51.100.2' }
  const { body } = await server.inject({ url: '/address', remoteAddress: '192.0.2.3', headers })
  expect(body).toBe(address)
})
